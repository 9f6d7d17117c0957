/* SPDX-License-Identifier: MIT */
/* cmd: what the commands of gldriverctl share. */
#pragma once

#include <stdbool.h>

#include <jansson.h>

/* DESIGN 7. */
enum tool_exit { TOOL_DONE, TOOL_NO, TOOL_USAGE, TOOL_NO_DAEMON, TOOL_FAILED };

struct tool {
	bool json;
	bool strict;  /* warnings count as errors */
	bool colour;  /* stdout is a terminal that wants it */
	bool persist; /* compat */
	const char *mount;
	const char *name;
	const char *root; /* check, facts */
};

/* Options that only some commands take. */
enum tool_option { OPTION_DAEMON = 1, OPTION_PERSIST = 2, OPTION_ROOT = 4, OPTION_NAME = 8 };

struct command {
	const char *name;
	int (*run)(const struct tool *tool, int argc, char **argv); /* returns an exit code */
	int min_arguments;
	int max_arguments;
	unsigned options; /* enum tool_option */
	const char *usage;
	const char *help;
};

int cmd_check(const struct tool *tool, int argc, char **argv);
int cmd_compat(const struct tool *tool, int argc, char **argv);
int cmd_explain(const struct tool *tool, int argc, char **argv);
int cmd_facts(const struct tool *tool, int argc, char **argv);
int cmd_list(const struct tool *tool, int argc, char **argv);
int cmd_reload(const struct tool *tool, int argc, char **argv);
int cmd_status(const struct tool *tool, int argc, char **argv);

/* Prints to stderr, with the program's name. Returns code. */
int tool_fail(enum tool_exit code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Prints the value as JSON to stdout. Returns code. */
int tool_print_json(const json_t *value, enum tool_exit code);
