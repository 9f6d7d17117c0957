/* SPDX-License-Identifier: MIT */
/* load_tables: the tables of this machine, from the process' own root whatever root is looked at:
 * what is compiled in, then PREFIX/lib/gldriverfs/NAME.ini, then /etc/gldriverfs/NAME.ini, each
 * where it is newer. Edge. */
#pragma once

#include "diag.h"
#include "tables.h"
#include "touched.h"

/* `touched` (may be NULL) is told of the files. Returns 0, or -ENOMEM. A file that cannot be used
 * is a warning in diags, with file and line: what was known before stays in force. */
int load_tables(struct touched *touched, struct tables **ret_tables, struct diag_list *diags);
