/* SPDX-License-Identifier: MIT */
/* reload: the thread that makes new generations, publishes them and then tells the kernel: it is
 * the notifier thread too (FUSE.md 2), so that nothing that answers requests ever waits for a scan
 * or for the kernel. Edge. */
#pragma once

#include "invalidate.h"
#include "override.h"
#include "pipeline.h"
#include "resume.h"

struct reload;

/* What came of one request. */
struct reload_result {
	uint64_t client;               /* who asked; 0: a signal or the daemon itself */
	int error;                     /* 0, or -errno: the old generation stands */
	bool changed;                  /* another view is published */
	struct diag_list diags;        /* a failure's findings */
	struct generation *generation; /* the published one, a reference */
};

struct reload_options {
	struct pipeline_request pipeline; /* what it points to outlives the thread */
	struct tree *tree;
	struct session *session;
	const char *override;  /* path of the runtime override */
	struct resume *resume; /* where each publish is kept for a successor */
	/* What an earlier process published and did not tell the kernel any more; told before the
	 * first job. NULL: nothing. */
	const struct snapshot *untold;
};

/* Starts the thread. Returns 0 or -errno. */
int reload_new(const struct reload_options *options, struct reload **ret_reload);
/* Ends the thread; a job under way is waited for, a second at most. Returns whether it has ended:
 * only then may be freed what it uses. NULL has none. */
bool reload_stop(struct reload *reload);
/* After a reload_stop that returned true. Accepts NULL, returns NULL. */
struct reload *reload_free(struct reload *reload);

/* Asks for a reload. mode: "auto", "on", "off" writes the override first (undone when the reload
 * fails), "" takes it out, NULL leaves it. Requests without a client that wait already are one.
 * Returns 0 or -ENOMEM. */
int reload_request(struct reload *reload, uint64_t client, const char *mode);
/* Readable when there is a result. */
int reload_fd(const struct reload *reload);
/* Takes the next result. Returns whether there was one. */
bool reload_take(struct reload *reload, struct reload_result *ret_result);
void reload_result_clear(struct reload_result *result);
