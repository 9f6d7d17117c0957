/* SPDX-License-Identifier: MIT */
/* tables: what is known of Jetsons and drivers, from conf/{soc,l4t,driver}.ini: compiled in at
 * build time, replaced by an installed file of the same name with a newer version. A new JetPack is
 * a row there, not a code change. Core: the texts are handed in. */
#pragma once

#include "diag.h"

enum table_id { TABLE_SOC, TABLE_L4T, TABLE_DRIVER, TABLE_COUNT };

struct soc_row {
	char *soc;       /* "tegra234" */
	char *device;    /* "Orin" */
	char *compute;   /* compute capability, "8.7" */
	char *l4t_first; /* "34": the first L4T release that runs on it */
	char *l4t_last;  /* NULL: still supported */
	char *stack;     /* "nvgpu" or "openrm" */
};

struct l4t_row {
	char *l4t; /* "36.4", "36", "39": the longest row that a release begins with holds */
	char *soc; /* the row is for this SoC only, and then goes before one for all; NULL: all */
	char *jetpack; /* "6.1" */
	char *cuda;    /* native CUDA, "12.6" */
	char *compat;  /* highest CUDA of an L4T cuda_compat, "12.9"; NULL: there is none for it */
	bool sbsa;     /* server (SBSA) compat packages are for it */
};

struct driver_row {
	char *branch; /* "535" */
	char *cuda;   /* "12.2" */
};

struct table_origin {
	unsigned version;
	char *source; /* file, or "built in" */
};

struct tables {
	struct soc_row *socs;
	size_t n_socs;
	struct l4t_row *l4ts;
	size_t n_l4ts;
	struct driver_row *drivers;
	size_t n_drivers;
	struct table_origin origins[TABLE_COUNT];
};

/* "soc.ini" … */
const char *table_file(enum table_id id);

/* The built-in tables. Returns 0 or -ENOMEM. */
int tables_new(struct tables **ret_tables);
/* Replaces one table by the text of a file if its version is newer. Returns 1: replaced, 0: not
 * newer, -EINVAL with errors in diags (file:line; the table stays as it was), or -ENOMEM. */
int tables_update(struct tables *tables, enum table_id id, const char *file, const char *text,
	size_t size, struct diag_list *diags);
/* Accepts NULL, returns NULL. */
struct tables *tables_free(struct tables *tables);
void tables_freep(struct tables **tables);

/* The row of a SoC, NULL: none. */
const struct soc_row *tables_soc(const struct tables *tables, const char *soc);
/* The row of an L4T release ("36.4.7") on a SoC (NULL: not known), NULL: none. */
const struct l4t_row *tables_l4t(const struct tables *tables, const char *l4t, const char *soc);
/* The CUDA version of a server's or desktop's driver ("535.129.03" → "12.2"), NULL: the branch is
 * unknown. */
const char *tables_cuda_of_driver(const struct tables *tables, const char *driver);
