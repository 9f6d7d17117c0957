/* SPDX-License-Identifier: MIT */
/* gldriverctl: asks and steers a gldriverfs daemon (DESIGN 7). */
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "table.h"
#include "util.h"

static const struct command commands[] = {
	{ "check", cmd_check, 0, 1, OPTION_ROOT | OPTION_NAME, "check [--root DIR] [CONFIG]",
		"try a policy without a daemon" },
	{ "compat", cmd_compat, 0, 1, OPTION_DAEMON | OPTION_PERSIST,
		"compat [auto|on|off|reset] [--persist]", "show or switch cuda_compat" },
	{ "explain", cmd_explain, 1, 1, OPTION_DAEMON, "explain NAME",
		"say why a name is what it is" },
	{ "list", cmd_list, 0, 1, OPTION_DAEMON, "list [PATH]", "show what is served" },
	{ "reload", cmd_reload, 0, 0, OPTION_DAEMON, "reload", "read policy and layers again" },
	{ "status", cmd_status, 0, 0, OPTION_DAEMON, "status", "show the daemon's state" },
};

int tool_fail(enum tool_exit code, const char *format, ...)
{
	_cleanup_(freep) char *text = NULL;
	va_list arguments;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		text = NULL;
	va_end(arguments);
	fputs("gldriverctl: ", stderr);
	table_put_to(stderr, text ? text : "out of memory");
	fputc('\n', stderr);
	return code;
}

int tool_print_json(const json_t *value, enum tool_exit code)
{
	if (json_dumpf(value, stdout, JSON_INDENT(2)) < 0)
		return tool_fail(TOOL_FAILED, "cannot write the answer");
	putchar('\n');
	return code;
}

static void print_help(void)
{
	puts("Usage: gldriverctl [OPTIONS] COMMAND [ARGUMENTS]\n\nCommands:");
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		printf("  %-40s %s\n", commands[i].usage, commands[i].help);
	puts("\nOptions:\n"
	     "  --mount MNT   the daemon that serves this directory\n"
	     "  --name NAME   the daemon of this instance\n"
	     "  --json        answer in JSON\n"
	     "  --strict      warnings count as errors\n"
	     "  --help, --version\n\n"
	     "Exit status: 0 done; 1 the answer is no; 2 usage; 3 no daemon; 4 refused or failed.");
}

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	return NULL;
}

static bool wants_colour(void)
{
	const char *no_colour = getenv("NO_COLOR");
	const char *terminal = getenv("TERM");

	return isatty(STDOUT_FILENO) && !(no_colour && *no_colour) && terminal &&
	       strcmp(terminal, "dumb") != 0;
}

/* Returns -1 to go on, else an exit code. */
static int parse_options(struct tool *tool, int argc, char **argv)
{
	enum { JSON = 1000, MOUNT, NAME, STRICT, HELP, VERSION, PERSIST, ROOT };
	static const struct option options[] = {
		{ "help", no_argument, NULL, HELP },
		{ "json", no_argument, NULL, JSON },
		{ "mount", required_argument, NULL, MOUNT },
		{ "name", required_argument, NULL, NAME },
		{ "persist", no_argument, NULL, PERSIST },
		{ "root", required_argument, NULL, ROOT },
		{ "strict", no_argument, NULL, STRICT },
		{ "version", no_argument, NULL, VERSION },
		{ 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (option) {
		case JSON:
			tool->json = true;
			break;
		case MOUNT:
			tool->mount = optarg;
			break;
		case NAME:
			tool->name = optarg;
			break;
		case STRICT:
			tool->strict = true;
			break;
		case PERSIST:
			tool->persist = true;
			break;
		case ROOT:
			tool->root = optarg;
			break;
		case 'h':
		case HELP:
			print_help();
			return TOOL_DONE;
		case VERSION:
			puts("gldriverctl " GLDRIVERFS_VERSION);
			return TOOL_DONE;
		default:
			fputs("see gldriverctl --help\n", stderr);
			return TOOL_USAGE;
		}
	}
	return -1;
}

static int run_command(const struct tool *tool, int argc, char **argv)
{
	const struct command *command;
	int arguments = argc - 1;

	if (argc == 0)
		return tool_fail(TOOL_USAGE, "no command given; see gldriverctl --help");
	command = find_command(argv[0]);
	if (!command)
		return tool_fail(
			TOOL_USAGE, "unknown command '%s'; see gldriverctl --help", argv[0]);
	if (arguments < command->min_arguments || arguments > command->max_arguments)
		return tool_fail(TOOL_USAGE, "usage: gldriverctl %s", command->usage);
	if (tool->persist && !(command->options & OPTION_PERSIST))
		return tool_fail(TOOL_USAGE, "%s takes no --persist", command->name);
	if (tool->root && !(command->options & OPTION_ROOT))
		return tool_fail(TOOL_USAGE, "%s takes no --root", command->name);
	if (tool->mount && !(command->options & OPTION_DAEMON))
		return tool_fail(TOOL_USAGE, "%s takes no --mount", command->name);
	if (tool->name && !(command->options & (OPTION_DAEMON | OPTION_NAME)))
		return tool_fail(TOOL_USAGE, "%s takes no --name", command->name);
	if (tool->name && tool->mount)
		return tool_fail(TOOL_USAGE, "--mount and --name exclude each other");
	return command->run(tool, argc, argv);
}

int main(int argc, char **argv)
{
	struct tool tool = { .colour = wants_colour() };
	int code = parse_options(&tool, argc, argv);

	if (code < 0)
		code = run_command(&tool, argc - optind, argv + optind);
	if (fflush(stdout) != 0 || ferror(stdout))
		return tool_fail(TOOL_FAILED, "cannot write to stdout");
	return code;
}
