/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client.h"
#include "names.h"
#include "override.h"
#include "policy.h"
#include "report.h"

static int show(const struct tool *tool)
{
	_cleanup_(jsonhelp_decrefp) json_t *status = NULL;
	int code = client_ask(tool, json_pack("{s:s}", "verb", "status"), false, &status);
	const json_t *compat = json_object_get(status, "compat");

	if (code != TOOL_DONE)
		return code;
	if (tool->json)
		return tool_print_json(compat, TOOL_DONE);
	report_compat(tool, compat);
	return TOOL_DONE;
}

static int print_reply(const struct tool *tool, const json_t *reply)
{
	const json_t *problems = json_object_get(reply, "problems");
	int code = tool->strict ? report_exit(tool, problems) : TOOL_DONE;

	if (tool->json)
		return tool_print_json(reply, code);
	report_compat(tool, json_object_get(reply, "compat"));
	report_problems(tool, problems);
	return code;
}

static json_t *mode_request(const char *mode)
{
	return json_pack("{s:s, s:s}", "verb", "compat", "mode", mode);
}

static int switch_mode(const struct tool *tool, const char *mode)
{
	_cleanup_(jsonhelp_decrefp) json_t *reply = NULL;
	int code = client_ask(tool, mode_request(mode), true, &reply);

	return code == TOOL_DONE ? print_reply(tool, reply) : code;
}

/* Where the mode of this daemon can be kept; the message says what to edit where it cannot. */
static int persist_path(const struct find_target *target, const json_t *status, char **ret_path)
{
	const char *config = jsonhelp_string(status, "config");
	struct names_input input = { .user = target->owner != 0,
		.name = target->name,
		.runtime_dir = getenv("XDG_RUNTIME_DIR"),
		.config_home = getenv("XDG_CONFIG_HOME"),
		.home = getenv("HOME") };
	struct names names = { 0 };

	if (config)
		return tool_fail(TOOL_FAILED,
			"the daemon was started with --config: set 'mode' under [compat] in %s "
			"yourself, then run gldriverctl reload",
			config);
	if (target->owner != getuid())
		return tool_fail(TOOL_FAILED,
			"the mount is uid %u's: run this as that user, who has the policy files",
			target->owner);
	if (names_make(&input, &names) < 0 || !names.persist) {
		names_clear(&names);
		return tool_fail(TOOL_FAILED, "neither XDG_CONFIG_HOME nor HOME says where your "
					      "policy files are");
	}
	*ret_path = steal_pointer(names.persist);
	names_clear(&names);
	return TOOL_DONE;
}

/* Whether the mode that was in force came from the runtime override. */
static bool from_override(const json_t *status)
{
	const char *from = jsonhelp_string(json_object_get(status, "compat"), "mode_from");
	const char *override = jsonhelp_string(status, "override");

	return from && override && string_has_prefix(from, override);
}

/* The files are as before; so is the daemon after this. */
static void switch_back(const struct find_target *target, const json_t *status)
{
	const char *mode = jsonhelp_string(json_object_get(status, "compat"), "mode");
	_cleanup_(jsonhelp_decrefp) json_t *reply = NULL;

	client_request(
		target, mode_request(from_override(status) && mode ? mode : "reset"), true, &reply);
}

/* Writes the drop-in, then takes the override out: the reload for that reads the drop-in. */
static int write_and_apply(const struct tool *tool, const struct find_target *target,
	const json_t *status, const char *path, const char *mode)
{
	_cleanup_(override_undo_freep) struct override_undo *undo = NULL;
	_cleanup_(jsonhelp_decrefp) json_t *reply = NULL;
	const json_t *compat;
	const char *now, *from;
	bool reset = strcmp(mode, "reset") == 0;
	int code;
	int r = override_write(path, reset ? NULL : mode, &undo);

	if (r < 0)
		return tool_fail(TOOL_FAILED,
			"cannot write %s: %s; set 'mode = %s' under [compat] where your system "
			"keeps this policy, then run gldriverctl reload",
			path, strerror(-r), reset ? "auto" : mode);
	code = client_request(target, mode_request("reset"), true, &reply);
	if (code != TOOL_DONE || client_is_error(tool, reply, &code)) {
		override_restore(undo);
		return code;
	}
	compat = json_object_get(reply, "compat");
	now = jsonhelp_string(compat, "mode");
	from = jsonhelp_string(compat, "mode_from");
	if (!reset && !string_equal(now, mode)) {
		override_restore(undo);
		switch_back(target, status);
		return tool_fail(TOOL_FAILED,
			"%s would not count: a later file says otherwise (%s); edit that", path,
			from ? from : "?");
	}
	return print_reply(tool, reply);
}

static int persist_mode(const struct tool *tool, const char *mode)
{
	_cleanup_(jsonhelp_decrefp) json_t *status = NULL;
	_cleanup_(freep) char *path = NULL;
	struct find_target target = { 0 };
	int code = find_daemon(tool, &target);

	if (code != TOOL_DONE)
		return code;
	code = client_request(&target, json_pack("{s:s}", "verb", "status"), false, &status);
	if (code == TOOL_DONE && !client_is_error(tool, status, &code))
		code = persist_path(&target, status, &path);
	if (path)
		code = write_and_apply(tool, &target, status, path, mode);
	find_target_clear(&target);
	return code;
}

int cmd_compat(const struct tool *tool, int argc, char **argv)
{
	enum compat_mode mode;

	if (argc == 1)
		return tool->persist ? tool_fail(TOOL_USAGE, "--persist needs a mode") : show(tool);
	if (strcmp(argv[1], "reset") != 0 && compat_mode_parse(argv[1], &mode) < 0)
		return tool_fail(TOOL_USAGE, "'%s' is no mode: auto, on, off or reset", argv[1]);
	return tool->persist ? persist_mode(tool, argv[1]) : switch_mode(tool, argv[1]);
}
