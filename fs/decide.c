/* SPDX-License-Identifier: MIT */
#include "decide.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "decide_internal.h"
#include "soname.h"
#include "util.h"

enum answer { ANSWER_NO, ANSWER_UNKNOWN, ANSWER_YES };

/* What the rules say of one compat directory. */
struct ruling {
	enum answer answer;
	const char *rule; /* constant */
	char *reason;     /* owned; NULL: no memory */
	const struct decide_set *set;
};

static const char *set_path(const struct decide_set *set)
{
	return set->layer->sets[set->set].path;
}

/* Both sides' CUDA versions are known, at least one of them because the policy says so. */
static bool policy_tells(const struct decide_host *host, const struct decide_set *set)
{
	return host->cuda && set->cuda && (host->said || set->said);
}

/* A Jetson's library (it carries no driver version) on a machine whose driver is a server's or
 * desktop's. */
static bool is_foreign_jetson(const struct decide_host *host, const struct decide_set *set)
{
	return !set->driver && facts_cuda_of_driver(host->driver);
}

static struct ruling rule_cuda(const struct decide_host *host, const struct decide_set *set)
{
	bool newer = version_compare(set->cuda, host->cuda) > 0;

	return (struct ruling){
		.answer = newer ? ANSWER_YES : ANSWER_NO,
		.rule = "cuda-versions",
		.reason = string_format("compat's CUDA %s is %s than the host's %s", set->cuda,
			newer ? "newer" : "not newer", host->cuda),
	};
}

/* FACTS.md 3, NVIDIA's rule without a note: the major numbers decide. */
static struct ruling rule_drivers(const struct decide_host *host, const struct decide_set *set)
{
	bool older = strncmp(host->driver, set->driver, 3) < 0;

	return (struct ruling){
		.answer = older ? ANSWER_YES : ANSWER_NO,
		.rule = "driver-numbers",
		.reason = string_format("the host's driver %s is %s branch than compat's %s",
			host->driver, older ? "of an older" : "not of an older", set->driver),
	};
}

static struct ruling rule_unknown(const struct decide_host *host, const struct decide_set *set)
{
	const char *host_text = host->driver || host->said ? "" : "the host's driver version";
	const char *set_text = set->driver || set->said ? "" : "compat's driver version";
	const char *both = *host_text && *set_text ? " and " : "";

	/* each side has a number, but of different kinds */
	if (!*host_text && !*set_text) {
		host_text = host->cuda ? "" : "the host's CUDA version";
		set_text = set->cuda ? "" : "compat's CUDA version";
	}
	return (struct ruling){
		.answer = ANSWER_UNKNOWN,
		.rule = "unknown",
		.reason = string_format("unknown: %s%s%s (for %s); cuda = in the layers can tell",
			host_text, both, set_text, set_path(set)),
	};
}

static struct ruling rule_on_set(const struct decide_host *host, const struct decide_set *set)
{
	if (set->n_files != 1) {
		return (struct ruling){
			.answer = ANSWER_NO,
			.rule = "libcuda-count",
			.reason = string_format(
				"%s has %zu files libcuda.so.*.*, a compat directory has one",
				set_path(set), set->n_files),
		};
	}
	if (host->said && set->said)
		return rule_cuda(host, set);
	if (host->driver && set->driver)
		return rule_drivers(host, set);
	if (is_foreign_jetson(host, set)) {
		return (struct ruling){
			.answer = ANSWER_NO,
			.rule = "not-tegra",
			.reason = string_format("%s is for Jetson, and driver %s is not a Jetson's",
				set_path(set), host->driver),
		};
	}
	if (policy_tells(host, set))
		return rule_cuda(host, set);
	return rule_unknown(host, set);
}

/* Auto also needs all that compat's libcuda needs. */
static int rule_closure(struct layer *const *layers, size_t n_layers, struct ruling *ruling)
{
	const char *missing;
	const char *by;
	int result = decide_closure(layers, n_layers, ruling->set, &missing, &by);

	if (result < 0 || !missing)
		return result;
	free(ruling->reason);
	ruling->answer = ANSWER_NO;
	ruling->rule = "closure";
	ruling->reason =
		string_format("%s is missing: compat's libcuda from %s needs it (asked by %s)",
			missing, set_path(ruling->set), by);
	return 0;
}

/* The best ruling over the sets (ranked, so that the first yes is the highest CUDA version). */
static int rule_on_sets(const struct decide_host *host, struct layer *const *layers,
	size_t n_layers, const struct decide_set *sets, size_t n_sets, bool unknown_is_yes,
	struct ruling *ret_ruling)
{
	struct ruling best = { 0 };

	for (size_t i = 0; i < n_sets; i++) {
		struct ruling ruling = rule_on_set(host, &sets[i]);

		ruling.set = &sets[i];
		if ((ruling.answer == ANSWER_YES ||
			    (ruling.answer == ANSWER_UNKNOWN && unknown_is_yes)) &&
			rule_closure(layers, n_layers, &ruling) < 0) {
			free(ruling.reason);
			free(best.reason);
			return -ENOMEM;
		}
		if (!best.set || ruling.answer > best.answer) {
			free(best.reason);
			best = ruling;
		} else {
			free(ruling.reason);
		}
		if (best.answer == ANSWER_YES)
			break;
	}
	*ret_ruling = best;
	return 0;
}

/* "compat.mode = on (/etc/…:12)" */
static char *format_mode(const struct policy *policy)
{
	const struct policy_value *from = &policy->compat_mode_from;
	const char *mode = compat_mode_name(policy->compat_mode);

	if (from->file && from->line)
		return string_format("compat.mode = %s (%s:%u)", mode, from->file, from->line);
	if (from->file)
		return string_format("compat.mode = %s (%s)", mode, from->file);
	return string_format("compat.mode = %s", mode);
}

static void warn_forced(const struct policy *policy, const struct decide_host *host,
	const struct decide_set *set, struct diag_list *diags)
{
	const struct policy_value *from = &policy->compat_mode_from;

	if (host->driver && set->driver) {
		if (version_compare(set->driver, host->driver) <= 0)
			diag_add(diags, DIAG_WARNING, from->file, from->line,
				"compat is on, but its driver %s is not newer than the host's %s: "
				"programs will get error 803",
				set->driver, host->driver);
	} else if (is_foreign_jetson(host, set)) {
		diag_add(diags, DIAG_WARNING, from->file, from->line,
			"compat is on, but %s is for Jetson and driver %s is not a Jetson's: "
			"programs will get error 804",
			set_path(set), host->driver);
	} else if (policy_tells(host, set) && version_compare(set->cuda, host->cuda) <= 0) {
		diag_add(diags, DIAG_WARNING, from->file, from->line,
			"compat is on, but its CUDA %s is not newer than the host's %s: programs "
			"will get error 803",
			set->cuda, host->cuda);
	}
}

/* Why there is no set, as the end of a sentence. */
static const char *no_set_text(struct layer *const *layers, size_t n_layers)
{
	for (size_t i = 0; i < n_layers; i++) {
		if (layers[i]->policy->role == ROLE_COMPAT)
			return "no directory of a compat layer has a usable libcuda";
	}
	return "there is no compat layer";
}

static int decide_forced(const struct policy *policy, const struct decide_host *host,
	const struct decide_set *set, const char *no_set, struct decision *decision,
	struct diag_list *diags)
{
	const struct policy_value *from = &policy->compat_mode_from;
	_cleanup_(freep) char *mode = format_mode(policy);
	bool on = policy->compat_mode == COMPAT_ON;

	if (!mode)
		return -ENOMEM;
	if (on && !set) {
		decision->rule = strdup("no-compat");
		decision->reason = string_format(
			"there is no compat library to use: %s, though %s", no_set, mode);
		diag_add(diags, DIAG_WARNING, from->file, from->line,
			"there is no compat library to use: %s", no_set);
	} else if (on) {
		decision->on = true;
		decision->rule = strdup("forced-on");
		decision->reason = string_format("%s: %s is used", mode, set_path(set));
		warn_forced(policy, host, set, diags);
	} else {
		decision->rule = strdup("forced-off");
		decision->reason = strdup(mode);
	}
	return 0;
}

static int decide_auto(const struct policy *policy, const struct decide_host *host,
	struct layer *const *layers, size_t n_layers, const struct decide_set *sets, size_t n_sets,
	struct decision *decision, const struct decide_set **ret_set, struct diag_list *diags)
{
	struct ruling ruling;
	int result =
		rule_on_sets(host, layers, n_layers, sets, n_sets, policy->compat_unknown, &ruling);

	if (result < 0)
		return result;
	if (!ruling.set) {
		decision->rule = strdup("no-compat");
		decision->reason = string_format(
			"there is no compat library: %s", no_set_text(layers, n_layers));
		return 0;
	}
	*ret_set = ruling.set;
	decision->on = ruling.answer == ANSWER_YES ||
		       (ruling.answer == ANSWER_UNKNOWN && policy->compat_unknown);
	decision->rule = strdup(ruling.rule);
	decision->reason = ruling.reason;
	if (ruling.answer == ANSWER_UNKNOWN && ruling.reason) {
		decision->reason = string_format("%s; on-unknown = %s", ruling.reason,
			policy->compat_unknown ? "on" : "off");
		diag_add(diags, DIAG_WARNING, NULL, 0,
			"whether compat may be used is %s, so it is %s (on-unknown)", ruling.reason,
			policy->compat_unknown ? "on" : "off");
		free(ruling.reason);
	}
	return 0;
}

static int decide_with(const struct policy *policy, struct layer *const *layers, size_t n_layers,
	struct decide_set *sets, size_t n_sets, struct decision *decision, struct diag_list *diags)
{
	const struct decide_set *set = n_sets > 0 ? &sets[0] : NULL;
	struct decide_host host;
	int result;

	decide_find_host(layers, n_layers, &decision->facts, &host);
	if (policy->compat_mode == COMPAT_AUTO) {
		decide_rank_sets(sets, n_sets);
		result = decide_auto(
			policy, &host, layers, n_layers, sets, n_sets, decision, &set, diags);
	} else {
		if (set && !set->layer->policy->file)
			decide_rank_sets(sets, n_sets);
		result = decide_forced(
			policy, &host, set, no_set_text(layers, n_layers), decision, diags);
	}
	if (result == 0 && (!decision->rule || !decision->reason))
		result = -ENOMEM;
	if (result < 0)
		return result;
	decision->layer = set ? set->layer : NULL;
	decision->set = set ? set->set : 0;
	return decide_set_facts(&decision->facts, &host, set);
}

int decide(const struct policy *policy, struct layer *const *layers, size_t n_layers,
	const struct facts *probed, struct decision *ret_decision, struct diag_list *diags)
{
	_cleanup_(freep) struct decide_set *sets = NULL;
	struct decision decision = { 0 };
	size_t n_sets = 0;
	int result = facts_copy(probed, &decision.facts);

	if (result == 0)
		result = decide_find_sets(layers, n_layers, &sets, &n_sets);
	if (result == 0)
		result = decide_with(policy, layers, n_layers, sets, n_sets, &decision, diags);
	if (result < 0) {
		decision_clear(&decision);
		return result;
	}
	*ret_decision = decision;
	return 0;
}

void decision_clear(struct decision *decision)
{
	free(decision->rule);
	free(decision->reason);
	facts_clear(&decision->facts);
	*decision = (struct decision){ 0 };
}
