/* SPDX-License-Identifier: MIT */
/* decide_internal: what the parts of `decide` share. Core. */
#pragma once

#include "decide.h"
#include "machine.h"

/* The machine as far as the facts and tables tell it. NULL: unknown. Strings point into the facts
 * and tables. */
struct decide_machine {
	bool tegra; /* a SoC or an L4T release is known */
	const char *soc;
	const char *l4t;
	const char *kernel; /* the kernel driver's number, whatever it counts */
	const char *gpu;
	const char *stack;
	const struct l4t_row *row;
	/* Its driver numbers are those of servers: not nvgpu's, which counts 540 for three CUDA
	 * versions or gives the L4T release (FACTS.md 4). */
	bool has_branches;
};

enum decide_from {
	FROM_NOTHING,
	FROM_POLICY, /* `cuda =`: said */
	FROM_NOTE,
	FROM_PATH,   /* the name of the directory: where */
	FROM_BRANCH, /* the driver's: where */
	FROM_L4T,    /* the release: where */
	FROM_PROBE,  /* cuDriverGetVersion of the file: where */
};

struct decide_cuda {
	char version[MACHINE_WORD]; /* "": unknown */
	enum decide_from from;
	const struct policy_value *said;
	const char *where;
	const char *unasked; /* FROM_NOTHING: why the child could not tell; or NULL */
};

/* What stands against what. Strings point into policy, layers and probed facts, or are constant. */
struct decide_host {
	struct decide_machine machine;
	const struct layer *layer; /* that has the libcuda; NULL: none has */
	const struct candidate *libcuda;
	const char *file_driver; /* of libcuda's file name; NULL: it has none */
	const char *driver;      /* the kernel's, else file_driver; NULL: no branch's number */
	/* Where no SoC and no L4T release is known (containers hide both): libcuda's name has no
	 * number, and the kernel's, if there is one, is of no server's branch (540). */
	bool like_jetson;
	struct decide_cuda cuda;
};

/* One compat directory with a libcuda. */
struct decide_set {
	const struct layer *layer;
	uint32_t set;
	size_t order;   /* as written */
	size_t n_files; /* named libcuda.so.*.*, without links */
	const struct candidate *libcuda;
	const struct compat_note *note; /* one that can be used; or NULL */
	const char *driver;             /* NULL: a Jetson's, whose name carries none */
	bool orin;                      /* in a directory compat_orin */
	struct decide_cuda cuda;
};

enum decide_answer { ANSWER_NO, ANSWER_UNKNOWN, ANSWER_YES };

/* What the rules say of one compat directory. */
struct decide_ruling {
	enum decide_answer answer;
	const char *rule; /* constant */
	char *reason;     /* owned; NULL: no memory */
	const struct decide_set *set;
};

const char *decide_set_path(const struct decide_set *set);

void decide_find_host(
	const struct decide_input *input, const struct facts *facts, struct decide_host *ret_host);
/* The compat directories that are there and have a libcuda, as written. Returns 0 and an array to
 * be freed, or -ENOMEM. */
int decide_find_sets(
	const struct decide_input *input, struct decide_set **ret_sets, size_t *ret_count);
/* Sorts: highest CUDA version first. */
void decide_rank_sets(struct decide_set *sets, size_t count);

/* A pairing that fails on every machine of this kind, whatever the versions. */
enum decide_misfit {
	MISFIT_NONE,
	MISFIT_JETSON, /* a Jetson's libcuda, and this is none */
	MISFIT_SERVER, /* a server's, and this GPU's driver is nvgpu */
	MISFIT_ORIN,   /* Orin's, and this is another Jetson */
};

enum decide_misfit decide_misfit_of(const struct decide_host *host, const struct decide_set *set);
/* The rules on one directory (DESIGN 5); the closure is not looked at. */
struct decide_ruling decide_rule(const struct decide_host *host, const struct decide_set *set);

/* Warns of what users of this decision will run into; set is NULL where it is off. file and line:
 * who asked for it. */
void decide_warn(const struct decide_host *host, const struct decide_set *set, const char *file,
	unsigned line, struct diag_list *diags);

/* Warns of a note that cannot be used. */
void decide_warn_note(const struct decide_set *set, struct diag_list *diags);

/* Fills in host's and, where there is one, compat's facts. Returns 0 or -ENOMEM. */
int decide_set_facts(struct facts *facts, const struct decide_host *host,
	const struct decide_set *set, const struct tables *tables);
/* Whether all that the set's libcuda needs, and so on, is there. Returns 0 and in *ret_missing
 * NULL, or the name that is missing and *ret_by who needs it (pointing into the layers); or
 * -ENOMEM. */
int decide_closure(const struct decide_input *input, const struct decide_set *set,
	const char **ret_missing, const char **ret_by);
