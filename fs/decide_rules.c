/* SPDX-License-Identifier: MIT */
/* decide: the rules on one compat directory: NVIDIA's (nvidia-container-toolkit,
 * cmd/nvidia-cdi-hook/cudacompat), then the support windows of Jetsons. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decide_internal.h"
#include "soname.h"

static struct decide_ruling ruling(enum decide_answer answer, const char *rule, char *reason)
{
	return (struct decide_ruling){ .answer = answer, .rule = rule, .reason = reason };
}

static enum decide_answer yes_if(bool yes)
{
	return yes ? ANSWER_YES : ANSWER_NO;
}

static const char *soc_text(const struct decide_machine *machine)
{
	return machine->soc ? machine->soc : "an unknown SoC";
}

enum decide_misfit decide_misfit_of(const struct decide_host *host, const struct decide_set *set)
{
	const struct decide_machine *machine = &host->machine;

	if (!set->driver && !machine->tegra && !host->like_jetson)
		return MISFIT_JETSON;
	if (set->driver && machine->tegra) {
		bool nvgpu = machine->stack ? !machine->has_branches
					    : machine->row && !machine->row->sbsa;

		return nvgpu ? MISFIT_SERVER : MISFIT_NONE;
	}
	if (set->orin && machine->soc && strcmp(machine->soc, "tegra234") != 0)
		return MISFIT_ORIN;
	return MISFIT_NONE;
}

static struct decide_ruling rule_misfit(
	const struct decide_host *host, const struct decide_set *set, enum decide_misfit misfit)
{
	const char *path = decide_set_path(set);

	if (misfit == MISFIT_SERVER)
		return ruling(ANSWER_NO, "not-server",
			string_format("%s (driver %s) is for servers, and %s has Jetson's nvgpu",
				path, set->driver, soc_text(&host->machine)));
	if (misfit == MISFIT_ORIN)
		return ruling(ANSWER_NO, "not-orin",
			string_format("%s is for Orin (tegra234), and this is %s", path,
				host->machine.soc));
	if (host->driver)
		return ruling(ANSWER_NO, "not-tegra",
			string_format("%s is for Jetson, and driver %s is not a Jetson's", path,
				host->driver));
	return ruling(ANSWER_NO, "not-tegra",
		string_format("%s is for Jetson, and no Tegra SoC or L4T release is known", path));
}

/* NVIDIA's third rule. */
static struct decide_ruling rule_note_drivers(
	const struct decide_host *host, const struct decide_set *set)
{
	unsigned long major = strtoul(host->driver, NULL, 10);
	bool newer = version_compare(set->driver, host->driver) > 0;
	bool listed = false;

	for (size_t i = 0; i < set->note->n_drivers; i++)
		listed = listed || set->note->drivers[i] == major;
	return ruling(yes_if(listed && newer), "note-drivers",
		string_format("the note of compat's %s (CUDA %s) %s the host's driver %s, and "
			      "compat is %s",
			set->driver, set->note->cuda, listed ? "lists" : "does not list",
			host->driver, newer ? "newer" : "not newer"));
}

/* NVIDIA's second rule. */
static struct decide_ruling rule_note_cuda(
	const struct decide_host *host, const struct decide_set *set)
{
	bool newer = version_compare(set->note->cuda, host->cuda.version) > 0;

	return ruling(yes_if(newer), "note-cuda",
		string_format("CUDA %s of compat's note is %s than the host's %s", set->note->cuda,
			newer ? "newer" : "not newer", host->cuda.version));
}

/* NVIDIA's fourth rule: the major numbers decide. */
static struct decide_ruling rule_drivers(
	const struct decide_host *host, const struct decide_set *set)
{
	bool older = strncmp(host->driver, set->driver, 3) < 0;

	return ruling(yes_if(older), "driver-numbers",
		string_format("the host's driver %s is %s branch than compat's %s", host->driver,
			older ? "of an older" : "not of an older", set->driver));
}

static struct decide_ruling rule_cuda(const struct decide_host *host, const struct decide_set *set)
{
	bool newer = version_compare(set->cuda.version, host->cuda.version) > 0;

	return ruling(yes_if(newer), "cuda-versions",
		string_format("compat's CUDA %s is %s than the host's %s", set->cuda.version,
			newer ? "newer" : "not newer", host->cuda.version));
}

/* "L4T 36.4.7 (JetPack 6.1) on tegra234", without memory NULL. */
static char *release_text(const struct decide_machine *machine)
{
	return string_format("L4T %s (JetPack %s) on %s", machine->l4t, machine->row->jetpack,
		soc_text(machine));
}

/* FACTS.md 3, "Support windows". Both CUDA versions are known, or there is no window. */
static struct decide_ruling rule_window(
	const struct decide_host *host, const struct decide_set *set)
{
	_cleanup_(freep) char *release = release_text(&host->machine);
	const struct l4t_row *row = host->machine.row;
	const char *limit = set->driver ? NULL : row->compat;
	bool newer = version_compare(set->cuda.version, host->cuda.version) > 0;

	if (!release)
		return ruling(ANSWER_NO, "support-window", NULL);
	if (!set->driver && !limit)
		return ruling(ANSWER_NO, "support-window",
			string_format("there is no compat of a Jetson for %s", release));
	if (!newer)
		return ruling(ANSWER_NO, "support-window",
			string_format("compat's CUDA %s is not newer than the host's %s, %s",
				set->cuda.version, host->cuda.version, release));
	if (limit && version_compare(set->cuda.version, limit) > 0)
		return ruling(ANSWER_NO, "support-window",
			string_format("compat's CUDA %s is above %s, the highest for %s",
				set->cuda.version, limit, release));
	return ruling(ANSWER_YES, "support-window",
		string_format("compat's CUDA %s is newer than the host's %s and %s%s for %s",
			set->cuda.version, host->cuda.version,
			limit ? "within the window up to " : "a server's package is",
			limit ? limit : "", release));
}

static const char *unknown_of_host(const struct decide_host *host)
{
	const struct decide_machine *machine = &host->machine;

	if (machine->tegra && !machine->l4t)
		return "the L4T release";
	if (machine->tegra && !machine->row)
		return machine->soc ? "what the L4T release supports (no table has it)" : "the SoC";
	if (!*host->cuda.version)
		return host->driver || machine->tegra ? "the host's CUDA version"
						      : "the host's driver version";
	return NULL;
}

static struct decide_ruling rule_unknown(
	const struct decide_host *host, const struct decide_set *set)
{
	const char *of_host = unknown_of_host(host);
	const char *of_set = *set->cuda.version ? NULL : "compat's CUDA version";

	return ruling(ANSWER_UNKNOWN, "unknown",
		string_format("unknown: %s%s%s (for %s); cuda = in the layers can tell",
			of_host ? of_host : "", of_host && of_set ? " and " : "",
			of_set ? of_set : "", decide_set_path(set)));
}

/* The directory holds a Jetson's compat and none can be for this release; or all that its window
 * needs is known. */
static bool window_tells(const struct decide_host *host, const struct decide_set *set)
{
	const struct l4t_row *row = host->machine.row;

	if (!row)
		return false;
	return (!set->driver && !row->compat) || (*host->cuda.version && *set->cuda.version);
}

struct decide_ruling decide_rule(const struct decide_host *host, const struct decide_set *set)
{
	enum decide_misfit misfit = decide_misfit_of(host, set);
	bool both_cuda = *host->cuda.version && *set->cuda.version;

	if (set->n_files != 1)
		return ruling(ANSWER_NO, "libcuda-count",
			string_format("%s has %zu files libcuda.so.*.*, a compat directory has one",
				decide_set_path(set), set->n_files));
	if (misfit != MISFIT_NONE)
		return rule_misfit(host, set, misfit);
	if (host->driver && set->driver)
		return set->note ? rule_note_drivers(host, set) : rule_drivers(host, set);
	if (set->note && *host->cuda.version)
		return rule_note_cuda(host, set);
	if (host->cuda.said && set->cuda.said)
		return rule_cuda(host, set);
	if (window_tells(host, set))
		return rule_window(host, set);
	if (both_cuda && (!host->machine.tegra || host->cuda.said || set->cuda.said))
		return rule_cuda(host, set);
	return rule_unknown(host, set);
}
