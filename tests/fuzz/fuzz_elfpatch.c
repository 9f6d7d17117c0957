/* SPDX-License-Identifier: MIT */
/* fuzz_elfpatch: plans for any bytes; what is accepted is applied and read again. */
#include <stdio.h>

#include "../unit/patch_builder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define WANTED   "$ORIGIN:/run/opengl-driver/lib"
#define HELD_MAX (64 * 1024 * 1024) /* a bss may place the tail far away */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct patch_memory memory = { data, size };
	struct elfpatch_plan plan, second;
	const char *wrong = NULL;

	if (patch_try(&memory, WANTED, &plan) < 0)
		abort();
	if (memory.reads > 10)
		wrong = "too many reads";
	else if ((plan.kind == ELFPATCH_REFUSED) != (plan.refusal != ELFPATCH_FINE) ||
		 plan.refusal == ELFPATCH_IO)
		wrong = "refusal";
	else if (plan.overlay && plan.overlay->size <= HELD_MAX)
		wrong = patch_check(&memory, WANTED, &plan);
	if (!wrong && plan.overlay) {
		if (patch_try(&memory, WANTED, &second) < 0 || !second.overlay ||
			second.overlay->id != plan.overlay->id)
			wrong = "two plans differ";
		elfpatch_clear(&second);
	}
	if (wrong) {
		fprintf(stderr, "%s: %s\n", elfpatch_kind_name(plan.kind), wrong);
		abort();
	}
	elfpatch_clear(&plan);
	return 0;
}
