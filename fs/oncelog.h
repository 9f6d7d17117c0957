/* SPDX-License-Identifier: MIT */
/* oncelog: what a generation has to say is logged once, for as long as it stays true. Edge. */
#pragma once

#include "generation.h"

/* Zero-initialised is empty. */
struct oncelog {
	struct string_list lines; /* sorted: what was true of the last generation */
};

/* Logs the findings and rejected files of the generation that the one before did not have. */
void oncelog_update(struct oncelog *oncelog, const struct generation *generation);
void oncelog_clear(struct oncelog *oncelog);
