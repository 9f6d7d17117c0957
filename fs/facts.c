/* SPDX-License-Identifier: MIT */
#include "facts.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const fact_names[FACT_COUNT] = {
	[FACT_SOC] = "soc",
	[FACT_DEVICE] = "device",
	[FACT_GPU_STACK] = "gpu-stack",
	[FACT_L4T] = "l4t",
	[FACT_JETPACK] = "jetpack",
	[FACT_GPU] = "gpu",
	[FACT_KERNEL_DRIVER] = "kernel-driver",
	[FACT_HOST_DRIVER] = "host-driver",
	[FACT_HOST_CUDA] = "host-cuda",
	[FACT_COMPAT_DRIVER] = "compat-driver",
	[FACT_COMPAT_CUDA] = "compat-cuda",
	[FACT_COMPAT_NOTE] = "compat-note",
};

const char *fact_name(enum fact_id id)
{
	return fact_names[id];
}

static void fact_clear(struct fact *fact)
{
	free(fact->value);
	free(fact->source);
	fact->value = NULL;
	fact->source = NULL;
}

int facts_set(
	struct facts *facts, enum fact_id id, const char *value, const char *source_format, ...)
{
	_cleanup_(freep) char *copy = value ? strdup(value) : NULL;
	char *source;
	va_list args;
	int size;

	va_start(args, source_format);
	size = vasprintf(&source, source_format, args);
	va_end(args);
	if (size < 0)
		return -ENOMEM;
	if (value && !copy) {
		free(source);
		return -ENOMEM;
	}
	fact_clear(&facts->items[id]);
	facts->items[id].value = steal_pointer(copy);
	facts->items[id].source = source;
	return 0;
}

int facts_copy(const struct facts *from, struct facts *ret_facts)
{
	struct facts copy = { 0 };

	for (size_t i = 0; i < FACT_COUNT; i++) {
		const struct fact *fact = &from->items[i];

		if (!fact->value && !fact->source)
			continue;
		if (facts_set(&copy, i, fact->value, "%s", fact->source ? fact->source : "") < 0) {
			facts_clear(&copy);
			return -ENOMEM;
		}
	}
	*ret_facts = copy;
	return 0;
}

void facts_clear(struct facts *facts)
{
	for (size_t i = 0; i < FACT_COUNT; i++)
		fact_clear(&facts->items[i]);
}
