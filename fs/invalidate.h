/* SPDX-License-Identifier: MIT */
/* invalidate: tells the kernel what a publish changed, and nothing else. Edge. */
#pragma once

#include "session.h"

/* Each is called from the notifier thread only. A notification that fails has nobody to be told to:
 * the kernel does not know the name, or the mount is gone. */

/* Between tree_prepare and tree_commit: the names that the next view adds. */
void invalidate_added(struct session *session, const struct tree_change *change);
/* After tree_commit: the changed and removed names, then the listing of each changed directory
 * (FUSE.md 1), then attributes. When it returns every program sees the new generation. */
void invalidate(struct session *session, const struct tree_change *change);
