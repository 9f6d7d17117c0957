/* SPDX-License-Identifier: MIT */
/* offline: a generation made by the tool itself, without a daemon: of this machine or of one in a
 * directory (--root). */
#pragma once

#include "cmd.h"
#include "generation.h"

/* Runs the pipeline with the instance's policy files, or with `config` alone (may be NULL). Returns
 * TOOL_DONE and the generation; TOOL_NO: the policy or a layer is not usable, findings are in
 * ret_diags (to be cleared); or, with a message printed, TOOL_USAGE or TOOL_FAILED. */
int offline_run(const struct tool *tool, const char *config, struct generation **ret_generation,
	struct diag_list *ret_diags);
