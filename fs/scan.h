/* SPDX-License-Identifier: MIT */
/* scan: the layers of a policy on the host: directories read, links followed, ELF facts taken. Each
 * layer is scanned in a thread of its own so that a source that hangs fails the load after a time
 * and holds up nothing else. Edge. */
#pragma once

#include "layer.h"
#include "rootfs.h"

/* Sources of earlier scans by path and stat data: an unchanged file is not opened again. */
struct scan_cache;
struct scan_cache *scan_cache_new(void);
struct scan_cache *scan_cache_free(struct scan_cache *cache);
/* Whether a thread of an earlier scan still waits for its source: it uses what the request named.
 */
bool scan_cache_in_use(struct scan_cache *cache);

/* Whether a mount of this process is a system one: root's of the first user namespace, for
 * everybody's use (DESIGN 1). */
bool scan_is_system(void);

/* DESIGN 4. */
#define SCAN_TIMEOUT_MS 5000

struct scan_request {
	const struct policy *policy;
	struct rootfs *root;
	struct rootfs *under;     /* what the mountpoint showed before the mount; NULL: not known */
	dev_t own_device;         /* of a mount of ours that mountinfo may not show; 0 */
	bool check_trust;         /* a system mount (DESIGN 3.1) */
	unsigned timeout_ms;      /* per layer */
	struct scan_cache *cache; /* NULL: none; with it a source that hangs has one thread */
	struct touched *touched;  /* told of what is looked at; NULL: nobody */
	/* Takes the open descriptor of a scanned regular file; NULL: closed. Called from scan
	 * threads. Not called for files in a Nix store. */
	void (*offer)(void *context, struct source *source, int fd);
	void *offer_context;
};

/* A source is opened in this root from now on; the reference goes with the source. */
void scan_bind(struct source *source, struct rootfs *root);

/* Scans all layers. Returns 0 and an array of n_layers layers in the policy's order (each
 * layer_free, then the array), -ENOENT: a path of a layer that is not optional is missing,
 * -ETIMEDOUT, -EREMOTE: a layer is a mount of ours … each with an error in diags that has
 * file:line; or -ENOMEM. Rejected files are not errors: they are in the layers. */
int scan(const struct scan_request *request, struct layer ***ret_layers, struct diag_list *diags);
