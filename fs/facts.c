/* SPDX-License-Identifier: MIT */
#include "facts.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "soname.h"

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

struct branch {
	char major[4];
	const char *cuda;
};

/* Driver branches of servers and desktops, sorted. Source: NVIDIA's CUDA Compatibility guide and
 * the CUDA Toolkit release notes, "CUDA Toolkit and Corresponding Driver Versions"; 565 as its
 * nvidia-smi says. Tegra's 540 is three CUDA versions and so is not here. */
static const struct branch branches[] = {
	{ "410", "10.0" },
	{ "418", "10.1" },
	{ "440", "10.2" },
	{ "450", "11.0" },
	{ "455", "11.1" },
	{ "460", "11.2" },
	{ "465", "11.3" },
	{ "470", "11.4" },
	{ "495", "11.5" },
	{ "510", "11.6" },
	{ "515", "11.7" },
	{ "520", "11.8" },
	{ "525", "12.0" },
	{ "530", "12.1" },
	{ "535", "12.2" },
	{ "545", "12.3" },
	{ "550", "12.4" },
	{ "555", "12.5" },
	{ "560", "12.6" },
	{ "565", "12.7" },
	{ "570", "12.8" },
	{ "575", "12.9" },
	{ "580", "13.0" },
	{ "590", "13.1" },
	{ "595", "13.2" },
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

const char *facts_cuda_of_driver(const char *driver)
{
	if (!version_is_driver(driver))
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(branches); i++) {
		if (memcmp(branches[i].major, driver, 3) == 0)
			return branches[i].cuda;
	}
	return NULL;
}
