/* SPDX-License-Identifier: MIT */
/* facts: what was detected about the machine, each with its source. Core: filled by `probe` and
 * from the layers. */
#pragma once

#include "layer.h"

enum fact_id {
	FACT_SOC,           /* "tegra234" */
	FACT_DEVICE,        /* "Orin" */
	FACT_GPU_STACK,     /* "nvgpu", "openrm" */
	FACT_L4T,           /* "36.4.7" */
	FACT_JETPACK,       /* "6.1" */
	FACT_GPU,           /* a desktop's or server's model, "NVIDIA GeForce RTX 4090" */
	FACT_KERNEL_DRIVER, /* "535.129.03"; on R34, R35 it is the L4T release */
	FACT_HOST_DRIVER,   /* of the host libcuda's file name */
	FACT_HOST_CUDA,     /* "12.2" */
	FACT_COMPAT_DRIVER, /* of the chosen compat directory's libcuda */
	FACT_COMPAT_CUDA,
	FACT_COMPAT_NOTE, /* what its forward-compatibility note says, in short */
	FACT_COUNT
};

struct fact {
	char *value;  /* NULL: unknown; then source may say why ("/proc/… is absent") */
	char *source; /* file, policy line or table that told it */
};

struct facts {
	struct fact items[FACT_COUNT];
};

/* "kernel-driver", "host-cuda" … */
const char *fact_name(enum fact_id id);
/* Sets one fact, copying; value may be NULL. Returns 0 or -ENOMEM. */
int facts_set(struct facts *facts, enum fact_id id, const char *value, const char *source_format,
	...) _printf_(4, 5);
int facts_copy(const struct facts *from, struct facts *ret_facts);
void facts_clear(struct facts *facts);
