/* SPDX-License-Identifier: MIT */
/* decide: pairings that are known to be bad, with the error that programs will get (FACTS.md 7). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decide_internal.h"
#include "soname.h"

/* Where a warning goes. */
struct asked {
	const char *file;
	unsigned line;
	struct diag_list *diags;
};

static void warn_misfit(const struct asked *asked, const struct decide_host *host,
	const struct decide_set *set, enum decide_misfit misfit)
{
	const struct decide_machine *machine = &host->machine;
	const char *path = decide_set_path(set);

	if (misfit == MISFIT_SERVER)
		diag_add_as(asked->diags, DIAG_WARNING, "compat-device", asked->file, asked->line,
			"compat is on, but %s (driver %s) is for servers and this machine has "
			"Jetson's nvgpu: programs will get error 804",
			path, set->driver);
	else if (misfit == MISFIT_ORIN)
		diag_add_as(asked->diags, DIAG_WARNING, "compat-jetpack", asked->file, asked->line,
			"compat is on, but %s is for Orin and this is %s: programs will get error "
			"%s",
			path, machine->soc, machine->has_branches ? "100" : "801");
	else if (host->driver)
		diag_add_as(asked->diags, DIAG_WARNING, "compat-device", asked->file, asked->line,
			"compat is on, but %s is for Jetson and driver %s is not a Jetson's: "
			"programs will get error 804",
			path, host->driver);
	else
		diag_add_as(asked->diags, DIAG_WARNING, "compat-device", asked->file, asked->line,
			"compat is on, but %s is for Jetson and no Tegra SoC or L4T release is "
			"known: programs will get error 804",
			path);
}

static bool is_listed(const struct compat_note *note, const char *driver)
{
	for (size_t i = 0; i < note->n_drivers; i++) {
		if (strtoul(driver, NULL, 10) == note->drivers[i])
			return true;
	}
	return false;
}

static void warn_drivers(
	const struct asked *asked, const struct decide_host *host, const struct decide_set *set)
{
	if (version_compare(set->driver, host->driver) <= 0)
		diag_add_as(asked->diags, DIAG_WARNING, "compat-older", asked->file, asked->line,
			"compat is on, but its driver %s is not newer than the host's %s: programs "
			"will get error 803",
			set->driver, host->driver);
	else if (set->note && !is_listed(set->note, host->driver))
		diag_add_as(asked->diags, DIAG_WARNING, "compat-older", asked->file, asked->line,
			"compat is on, but the note of its driver %s does not list the host's %s: "
			"programs will get error 803",
			set->driver, host->driver);
}

static void warn_cuda(
	const struct asked *asked, const struct decide_host *host, const struct decide_set *set)
{
	const struct l4t_row *row = host->machine.row;
	const char *cuda = set->cuda.version;

	if (row && !set->driver && !row->compat)
		diag_add_as(asked->diags, DIAG_WARNING, "compat-jetpack", asked->file, asked->line,
			"compat is on, but there is none of a Jetson for L4T %s: programs will get "
			"error 801",
			host->machine.l4t);
	else if (*cuda && *host->cuda.version && version_compare(cuda, host->cuda.version) <= 0)
		diag_add_as(asked->diags, DIAG_WARNING, "compat-older", asked->file, asked->line,
			"compat is on, but its CUDA %s is not newer than the host's %s: programs "
			"will get error 803",
			cuda, host->cuda.version);
	else if (row && !set->driver && *cuda && version_compare(cuda, row->compat) > 0)
		diag_add_as(asked->diags, DIAG_WARNING, "compat-jetpack", asked->file, asked->line,
			"compat is on, but its CUDA %s is above %s, the highest for L4T %s: "
			"programs will get error 801",
			cuda, row->compat, host->machine.l4t);
}

static void warn_on(
	const struct asked *asked, const struct decide_host *host, const struct decide_set *set)
{
	enum decide_misfit misfit = decide_misfit_of(host, set);

	if (misfit != MISFIT_NONE) {
		warn_misfit(asked, host, set, misfit);
		return;
	}
	if (host->driver && set->driver)
		warn_drivers(asked, host, set);
	else
		warn_cuda(asked, host, set);
	if (!host->machine.tegra && host->machine.gpu && strstr(host->machine.gpu, "GeForce"))
		diag_add_as(asked->diags, DIAG_WARNING, "compat-device", asked->file, asked->line,
			"compat is on, but the GPU (%s) has no forward compatibility: programs "
			"will get error 804",
			host->machine.gpu);
}

/* L4T R39 has a libcuda for each GPU stack (FACTS.md 5). */
static void warn_stack(const struct asked *asked, const struct decide_host *host)
{
	static const char *const stacks[] = { "nvgpu", "openrm" };
	const char *needed = host->machine.stack;

	for (size_t i = 0; needed && i < ARRAY_SIZE(stacks); i++) {
		char directory[32];

		snprintf(directory, sizeof(directory), "/l4t-gpu-libs/%s/", stacks[i]);
		if (strcmp(stacks[i], needed) == 0 ||
			!strstr(host->libcuda->source->path, directory))
			continue;
		diag_add_as(asked->diags, DIAG_WARNING, "gpu-stack",
			host->libcuda->source->real_path, 0,
			"the host's libcuda is %s's, and %s needs that of %s: programs will get "
			"error 100",
			stacks[i], host->machine.soc, needed);
	}
}

void decide_warn(const struct decide_host *host, const struct decide_set *set, const char *file,
	unsigned line, struct diag_list *diags)
{
	const struct asked asked = { file, line, diags };

	if (set)
		warn_on(&asked, host, set);
	else if (host->libcuda)
		warn_stack(&asked, host);
}

void decide_warn_note(const struct decide_set *set, struct diag_list *diags)
{
	const struct source *source = set->libcuda->source;

	if (source->note && source->note->state == NOTE_INVALID)
		diag_add_as(diags, DIAG_WARNING, "note-invalid", source->real_path, 0,
			"its forward-compatibility note cannot be used: %s", source->note->problem);
}
