/* SPDX-License-Identifier: MIT */
/* world: generations made by hand over real files in a temporary directory, for tests of the edges
 * that serve them. */
#pragma once

#include "tree.h"

/* A fresh temporary directory; removed with its files by world_remove. */
char *world_directory(void);
void world_remove(char *directory);
/* Writes a file and returns its source (a reference). `offer` may be NULL. */
struct source *world_source(
	const char *directory, const char *name, const char *content, struct fdpool *offer);
/* A generation around a view that is not finished; takes the view. */
struct generation *world_generation(struct view *view);
