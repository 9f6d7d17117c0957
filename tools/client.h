/* SPDX-License-Identifier: MIT */
/* client: one request to a daemon and its reply (DESIGN 7). */
#pragma once

#include "cmd.h"
#include "find.h"

/* Sends the request (taken; "v" is added) to the daemon and waits for the reply: for a change as
 * long as it takes, else 30 s. Returns TOOL_DONE and the reply, which may be an error reply, or,
 * with a message printed, TOOL_NO_DAEMON or TOOL_FAILED. */
int client_request(
	const struct find_target *target, json_t *request, bool change, json_t **ret_reply);
/* Finds the daemon and asks it. An error reply is printed (as JSON with --json) and becomes TOOL_NO
 * ("missing") or TOOL_FAILED. */
int client_ask(const struct tool *tool, json_t *request, bool change, json_t **ret_reply);
/* Whether the reply is an error; prints it and sets *ret_code. */
bool client_is_error(const struct tool *tool, const json_t *reply, int *ret_code);
