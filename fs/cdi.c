/* SPDX-License-Identifier: MIT */
#include "cdi.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "jsonhelp.h"

static int because(char *why, char **ret_why)
{
	if (!why)
		return -ENOMEM;
	*ret_why = why;
	return -EINVAL;
}

static bool is_path(const char *text)
{
	return text && *text == '/' && strlen(text) < PATH_MAX;
}

static int add(struct cdi *cdi, const char *host, const char *container)
{
	struct cdi_mount mount = { 0 };

	if (array_grow(&cdi->items, &cdi->capacity, cdi->count, sizeof(*cdi->items)) < 0)
		return -ENOMEM;
	mount.host_path = strdup(host);
	mount.container_path = strdup(container);
	if (!mount.host_path || !mount.container_path) {
		free(mount.host_path);
		free(mount.container_path);
		return -ENOMEM;
	}
	cdi->items[cdi->count++] = mount;
	return 0;
}

/* The mounts of an object that has containerEdits. */
static int take_edits(
	const char *file, const json_t *holder, struct cdi *cdi, struct diag_list *diags)
{
	const json_t *mounts = json_object_get(json_object_get(holder, "containerEdits"), "mounts");
	size_t bad = 0;

	for (size_t i = 0; i < json_array_size(mounts); i++) {
		const json_t *mount = json_array_get(mounts, i);
		const char *host = jsonhelp_string(mount, "hostPath");
		const char *container = jsonhelp_string(mount, "containerPath");

		if (!container)
			container = host;
		if (!is_path(host) || !is_path(container))
			bad++;
		else if (add(cdi, host, container) < 0)
			return -ENOMEM;
	}
	if (bad > 0)
		diag_add_as(diags, DIAG_WARNING, "layer-unread", file, 0,
			"mounts without absolute paths are left out: %zu", bad);
	return 0;
}

static int take_spec(const char *file, const json_t *spec, struct cdi *cdi, struct diag_list *diags)
{
	const json_t *devices = json_object_get(spec, "devices");
	int result = take_edits(file, spec, cdi, diags);

	for (size_t i = 0; result == 0 && i < json_array_size(devices); i++)
		result = take_edits(file, json_array_get(devices, i), cdi, diags);
	return result;
}

static bool starts_json(const char *text, size_t size)
{
	size_t at = 0;

	while (at < size && strchr(" \t\r\n", text[at]) && text[at])
		at++;
	return at < size && text[at] == '{';
}

int cdi_parse(const char *file, const char *text, size_t size, struct cdi *ret_cdi,
	struct diag_list *diags, char **ret_why)
{
	json_t *spec;
	json_error_t error;
	int result;

	if (!starts_json(text, size))
		return because(strdup("it is not JSON; a CDI spec in YAML is not read "
				      "(nvidia-ctk cdi generate --format=json writes JSON)"),
			ret_why);
	spec = json_loadb(text, size, 0, &error);
	if (!spec && json_error_code(&error) == json_error_out_of_memory)
		return -ENOMEM;
	if (!spec)
		return because(
			string_format("it is not valid JSON: line %d: %s", error.line, error.text),
			ret_why);
	if (!json_is_object(spec) || !jsonhelp_string(spec, "cdiVersion")) {
		json_decref(spec);
		return because(strdup("it is no CDI spec: it has no cdiVersion"), ret_why);
	}
	result = take_spec(file, spec, ret_cdi, diags);
	json_decref(spec);
	return result;
}

void cdi_clear(struct cdi *cdi)
{
	for (size_t i = 0; i < cdi->count; i++) {
		free(cdi->items[i].host_path);
		free(cdi->items[i].container_path);
	}
	free(cdi->items);
	*cdi = (struct cdi){ 0 };
}

bool cdi_is_json(const char *name)
{
	return *name != '.' && string_has_suffix(name, ".json");
}

bool cdi_is_yaml(const char *name)
{
	return *name != '.' &&
	       (string_has_suffix(name, ".yaml") || string_has_suffix(name, ".yml"));
}
