/* SPDX-License-Identifier: MIT */
/* invalidate: tells the kernel what a publish changed, and nothing else. Edge. */
#pragma once

#include "session.h"

/* Invalidates the changed names, then the listing of each changed directory (FUSE.md 1), then
 * attributes. When it returns every program sees the new generation. Returns how many notifications
 * the kernel took. To be called from the notifier thread only. */
size_t invalidate(struct session *session, const struct tree_change *change);
