/* SPDX-License-Identifier: MIT */
#include "log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

static enum { TO_STDERR, TO_JOURNAL, TO_SYSLOG } target = TO_STDERR;

void log_open(void)
{
	const char *stream = getenv("JOURNAL_STREAM"); /* systemd.exec(5): "DEVICE:INODE" */
	unsigned long long device, inode;
	struct stat st;

	if (stream && sscanf(stream, "%llu:%llu", &device, &inode) == 2 &&
		fstat(STDERR_FILENO, &st) == 0 && st.st_dev == device && st.st_ino == inode)
		target = TO_JOURNAL;
}

void log_to_syslog(void)
{
	openlog("gldriverfs", LOG_PID, LOG_DAEMON);
	target = TO_SYSLOG;
}

void log_forked(void)
{
	if (target == TO_SYSLOG)
		closelog();
}

/* Names of files are in messages: a line break in one must not begin a message of its own. */
static void make_one_line(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = '?';
}

void log_message(int priority, const char *format, ...)
{
	_cleanup_(freep) char *text = NULL;
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (length < 0) {
		text = NULL;
		return;
	}
	make_one_line(text);
	if (target == TO_SYSLOG)
		syslog(priority, "%s", text);
	else if (target == TO_JOURNAL)
		fprintf(stderr, "<%d>%s\n", priority, text);
	else
		fprintf(stderr, "gldriverfs: %s\n", text);
}

void log_diags(const struct diag_list *diags)
{
	for (size_t i = 0; i < diags->count; i++) {
		const struct diag *diag = &diags->items[i];
		_cleanup_(freep) char *text = NULL;

		if (diag->level == DIAG_INFO)
			continue;
		text = diag_format(diag);
		if (text)
			log_message(diag->level == DIAG_ERROR ? LOG_ERR : LOG_WARNING, "%s", text);
	}
}
