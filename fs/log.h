/* SPDX-License-Identifier: MIT */
/* log: the daemon's messages: to standard error with a <N> prefix for the journal, without one for
 * a terminal, or to syslog once it is in the background. Edge; only the daemon logs. */
#pragma once

#include "diag.h"

/* Picks the journal's form where standard error is the journal's stream ($JOURNAL_STREAM). */
void log_open(void);
/* Standard error goes away: use syslog from now on. */
void log_to_syslog(void);
/* In a process that was forked and closes descriptors: the connection to syslog is made anew. */
void log_forked(void);
/* priority: LOG_ERR … of <syslog.h>. */
void log_message(int priority, const char *format, ...) _printf_(2, 3);
/* Each finding; infos are left out. */
void log_diags(const struct diag_list *diags);
