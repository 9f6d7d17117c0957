/* SPDX-License-Identifier: MIT */
/* report: the parts of a status (DESIGN 7) as text for people. */
#pragma once

#include <stdio.h>

#include "cmd.h"
#include "jsonhelp.h"

/* "compat on (mode auto): reason", the directory and the facts. */
void report_compat(const struct tool *tool, const json_t *compat);
void report_layers(const json_t *layers);
void report_rejected(const json_t *rejected);
/* One line per finding, errors first. */
void report_problems(const struct tool *tool, const json_t *problems);
void report_problems_to(FILE *out, bool colour, const json_t *problems);
/* TOOL_NO where there are errors (with strict: warnings too), else TOOL_DONE. */
enum tool_exit report_exit(const struct tool *tool, const json_t *problems);
/* The first 8 digits of a generation's id; printf with "%.8s". */
const char *report_generation(const json_t *object);
