/* SPDX-License-Identifier: MIT */
/* report: the parts of a status (DESIGN 7) as text for people. */
#pragma once

#include <stdio.h>

#include "cmd.h"
#include "diag.h"
#include "jsonhelp.h"

/* Each fact (or each that is known), its value and its source. */
void report_facts(const json_t *facts, unsigned indent, bool known_only);
/* "compat on (mode auto): reason" and the directory. */
void report_decision(const struct tool *tool, const json_t *compat);
void report_layers(const json_t *layers);
void report_rejected(const json_t *rejected);
/* Findings, errors first: a line each; what it means and what to do below it. Infos are for who
 * checks. */
void report_problems(const struct tool *tool, const json_t *problems, bool infos);
void report_problems_to(FILE *out, bool colour, const json_t *problems, bool infos);
/* The findings of a load that failed, also as JSON. Returns TOOL_NO, or TOOL_FAILED. */
int report_failure(const struct tool *tool, const struct diag_list *diags);
/* TOOL_NO where there are errors (with strict: warnings too), else TOOL_DONE. */
enum tool_exit report_exit(const struct tool *tool, const json_t *problems);
/* The first 8 digits of a generation's id; printf with "%.8s". */
const char *report_generation(const json_t *object);
