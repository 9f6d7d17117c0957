/* SPDX-License-Identifier: MIT */
/* verbs: the control protocol's requests as a table, and their answers (DESIGN 7). Edge: it calls
 * the daemon's callbacks. */
#pragma once

#include "ctl.h"

struct verbs_call {
	const struct ctl_callbacks *callbacks;
	void *context;
	uint64_t client;
	bool may_change; /* root or the mount's owner asks */
};

/* Answers one request line (size bytes without the line break). Returns the reply, or NULL with
 * *ret_pending set: it comes by ctl_reply (NULL and not set: no memory). */
json_t *verbs_run(
	const struct verbs_call *call, const char *request, size_t size, bool *ret_pending);
