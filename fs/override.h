/* SPDX-License-Identifier: MIT */
/* override: small policy files that gldriverfs itself writes: the runtime override and --persist's
 * drop-in (DESIGN 4, 7). override_edit is pure, the rest is an edge. */
#pragma once

#include <stddef.h>

#include "util.h"

/* Sets key in [section] of text, or takes it out where value is NULL; every other line is kept. The
 * result is NULL where no entry is left. Returns 0 or -ENOMEM. */
int override_edit(
	const char *text, const char *section, const char *key, const char *value, char **ret_text);

struct override_undo;

/* Sets (mode NULL: takes out) compat.mode in the file at path by a temporary file and a rename; a
 * file without entries goes. Missing directories (up to two) are made, 0755. Returns 0 and what
 * override_restore needs, or -errno with nothing changed. */
int override_write(const char *path, const char *mode, struct override_undo **ret_undo);
/* Puts the file back as it was. Returns 0 or -errno. */
int override_restore(const struct override_undo *undo);
/* Accepts NULL, returns NULL. */
struct override_undo *override_undo_free(struct override_undo *undo);
void override_undo_freep(struct override_undo **undo);
