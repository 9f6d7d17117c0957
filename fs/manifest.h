/* SPDX-License-Identifier: MIT */
/* manifest: the JSON and ICD files that name driver libraries (FACTS.md 6): what is wrong with one,
 * and the same with its library's path changed to the mount's, one token, the rest byte for byte.
 * Core. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "diag.h"
#include "view.h"

/* Larger ones are not served. */
#define MANIFEST_MAX (64 * 1024)

enum manifest_kind {
	MANIFEST_NONE,
	MANIFEST_RELATIVE, /* JSON whose reader joins a relative path to the manifest's: Vulkan,
			      glvnd */
	MANIFEST_ABSOLUTE, /* JSON whose reader does not: EGL external platforms */
	MANIFEST_ICD,      /* OpenCL: one line, a name or a path */
};

/* By its path in the driver directory ("share/vulkan/icd.d/x.json"). */
enum manifest_kind manifest_kind(const char *path);
/* Why the text cannot be served as that kind, in words that a user understands (a constant string);
 * NULL: nothing is wrong. text NULL: it is too large. */
const char *manifest_problem(enum manifest_kind kind, const char *text, size_t size);

/* The library that a .icd file names: its first line without the white space around it. Points into
 * the text; *ret_size may be 0. */
const char *manifest_icd_name(const char *text, size_t size, size_t *ret_size);
/* How many bytes of a byte order mark the text begins with: 0 or 3. */
size_t manifest_bom(const char *text, size_t size);

/* What the text is changed for. */
struct manifest_place {
	const char *path;       /* in the driver directory */
	const char *mountpoint; /* NULL: not known: nothing absolute is written */
	/* The source of the library at that path in lib/ ("libx.so", "vdpau/libx.so"), or NULL. */
	const struct source *(*find)(void *context, const char *path);
	void *context;
};

/* Changes the text of a manifest without a problem. Returns 1 with *ret_text (owned by the caller,
 * no NUL behind its *ret_size bytes); 0: nothing is to be changed; or -ENOMEM. The libraries that
 * it names and lib/ does not have are added to *outside, those in a Nix store left out. */
int manifest_edit(const struct manifest_place *place, const char *text, size_t size,
	char **ret_text, size_t *ret_size, struct string_list *outside);

/* Changes the manifests of a view that is not finished: each becomes a file with an overlay. What
 * names a library outside lib/ is said in diags ("manifest-outside"). Returns 0 or -ENOMEM. */
int manifest_edit_view(struct view *view, const char *mountpoint, struct diag_list *diags);
