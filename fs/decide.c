/* SPDX-License-Identifier: MIT */
#include "decide.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "decide_internal.h"
#include "util.h"

/* Auto also needs all that compat's libcuda needs. */
static int rule_closure(const struct decide_input *input, struct decide_ruling *ruling)
{
	const char *missing;
	const char *by;
	int result = decide_closure(input, ruling->set, &missing, &by);

	if (result < 0 || !missing)
		return result;
	free(ruling->reason);
	ruling->answer = ANSWER_NO;
	ruling->rule = "closure";
	ruling->reason =
		string_format("%s is missing: compat's libcuda from %s needs it (asked by %s)",
			missing, decide_set_path(ruling->set), by);
	return 0;
}

/* The best ruling over the sets (ranked, so that the first yes is the highest CUDA version). */
static int rule_on_sets(const struct decide_host *host, const struct decide_input *input,
	const struct decide_set *sets, size_t n_sets, struct decide_ruling *ret_ruling)
{
	struct decide_ruling best = { 0 };

	for (size_t i = 0; i < n_sets; i++) {
		struct decide_ruling ruling = decide_rule(host, &sets[i]);

		ruling.set = &sets[i];
		if ((ruling.answer == ANSWER_YES ||
			    (ruling.answer == ANSWER_UNKNOWN && input->policy->compat_unknown)) &&
			rule_closure(input, &ruling) < 0) {
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

/* Why there is no set, as the end of a sentence. */
static const char *no_set_text(struct layer *const *layers, size_t n_layers)
{
	for (size_t i = 0; i < n_layers; i++) {
		if (layers[i]->policy->role == ROLE_COMPAT)
			return "no directory of a compat layer has a usable libcuda";
	}
	return "there is no compat layer";
}

static int decide_forced(const struct policy *policy, const struct decide_set *set,
	const char *no_set, struct decision *decision, struct diag_list *diags)
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
		diag_add_as(diags, DIAG_WARNING, "no-compat", from->file, from->line,
			"there is no compat library to use: %s", no_set);
	} else if (on) {
		decision->on = true;
		decision->rule = strdup("forced-on");
		decision->reason = string_format("%s: %s is used", mode, decide_set_path(set));
	} else {
		decision->rule = strdup("forced-off");
		decision->reason = strdup(mode);
	}
	return 0;
}

static int decide_auto(const struct decide_input *input, const struct decide_host *host,
	const struct decide_set *sets, size_t n_sets, struct decision *decision,
	const struct decide_set **ret_set, struct diag_list *diags)
{
	bool unknown_is_yes = input->policy->compat_unknown;
	struct decide_ruling ruling;
	int result = rule_on_sets(host, input, sets, n_sets, &ruling);

	if (result < 0)
		return result;
	if (!ruling.set) {
		decision->rule = strdup("no-compat");
		decision->reason = string_format("there is no compat library: %s",
			no_set_text(input->layers, input->n_layers));
		return 0;
	}
	*ret_set = ruling.set;
	decision->on =
		ruling.answer == ANSWER_YES || (ruling.answer == ANSWER_UNKNOWN && unknown_is_yes);
	decision->rule = strdup(ruling.rule);
	decision->reason = ruling.reason;
	if (ruling.answer == ANSWER_UNKNOWN && ruling.reason) {
		decision->reason = string_format(
			"%s; on-unknown = %s", ruling.reason, unknown_is_yes ? "on" : "off");
		diag_add_as(diags, DIAG_WARNING, "compat-unknown", NULL, 0,
			"whether compat may be used is %s, so it is %s (on-unknown)", ruling.reason,
			unknown_is_yes ? "on" : "off");
		free(ruling.reason);
	}
	return 0;
}

static int decide_with(const struct decide_input *input, struct decide_set *sets, size_t n_sets,
	struct decision *decision, struct diag_list *diags)
{
	const struct policy *policy = input->policy;
	const struct policy_value *from = &policy->compat_mode_from;
	const struct decide_set *set = n_sets > 0 ? &sets[0] : NULL;
	struct decide_host host;
	int result;

	decide_find_host(input, &decision->facts, &host);
	if (policy->compat_mode == COMPAT_AUTO) {
		decide_rank_sets(sets, n_sets);
		result = decide_auto(input, &host, sets, n_sets, decision, &set, diags);
	} else {
		if (set && !set->layer->policy->file)
			decide_rank_sets(sets, n_sets);
		result = decide_forced(
			policy, set, no_set_text(input->layers, input->n_layers), decision, diags);
	}
	if (result == 0 && (!decision->rule || !decision->reason))
		result = -ENOMEM;
	if (result < 0)
		return result;
	if (set && policy->compat_mode != COMPAT_OFF)
		decide_warn_note(set, diags);
	decide_warn(&host, decision->on ? set : NULL, from->file, from->line, diags);
	decision->layer = set ? set->layer : NULL;
	decision->set = set ? set->set : 0;
	return decide_set_facts(&decision->facts, &host, set, input->tables);
}

int decide(const struct decide_input *input, struct decision *ret_decision, struct diag_list *diags)
{
	_cleanup_(freep) struct decide_set *sets = NULL;
	struct decision decision = { 0 };
	size_t n_sets = 0;
	int result = facts_copy(input->probed, &decision.facts);

	if (result == 0)
		result = decide_find_sets(input, &sets, &n_sets);
	if (result == 0)
		result = decide_with(input, sets, n_sets, &decision, diags);
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
