/* SPDX-License-Identifier: MIT */
/* probe: each fact from the first of its files that tells it; else why none does. */
#include "probe.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"

#define SMALL_BYTES_MAX (64 * 1024)
/* Debian's own is 2 MB on a desktop. */
#define DPKG_BYTES_MAX (8 * 1024 * 1024)
#define GPU_DIRECTORY  "/proc/driver/nvidia/gpus"
#define GPUS_MAX       64

struct place {
	enum fact_id id;
	const char *path;
	size_t max;
	int (*parse)(const char *text, size_t size, char *value);
	const char *what; /* it should name */
};

/* FACTS.md 4. Of one fact the best place first. */
static const struct place places[] = {
	{ FACT_SOC, "/proc/device-tree/compatible", SMALL_BYTES_MAX, machine_parse_compatible,
		"Tegra SoC" },
	{ FACT_L4T, PROBE_RELEASE, SMALL_BYTES_MAX, machine_parse_release, "L4T release" },
	{ FACT_L4T, "/var/lib/dpkg/status", DPKG_BYTES_MAX, machine_parse_dpkg,
		"installed nvidia-l4t-core" },
	{ FACT_KERNEL_DRIVER, "/proc/driver/nvidia/version", SMALL_BYTES_MAX,
		machine_parse_kernel_driver, "version" },
	{ FACT_KERNEL_DRIVER, "/sys/module/nvidia/version", SMALL_BYTES_MAX,
		machine_parse_kernel_driver, "version" },
};

/* Returns 0, -errno of reading, or -ENOMSG: the file does not tell. */
static int read_place(struct rootfs *root, const struct place *place, char value[MACHINE_WORD])
{
	_cleanup_(freep) char *text = NULL;
	size_t size;
	int result = rootfs_read(root, place->path, place->max, &text, &size);

	if (result < 0)
		return result;
	return place->parse(text, size, value) < 0 ? -ENOMSG : 0;
}

static bool is_absent(int error)
{
	return error == -ENOENT || error == -ENOTDIR;
}

/* "/a is absent", "/a names no version", "/a cannot be read: Permission denied" */
static char *describe(const struct place *place, int error)
{
	if (is_absent(error))
		return string_format("%s is absent", place->path);
	if (error == -ENOMSG)
		return string_format("%s names no %s", place->path, place->what);
	return string_format("%s cannot be read: %s", place->path, strerror(-error));
}

/* Appends why a place does not tell to what the earlier ones said. Returns 0 or -ENOMEM. */
static int add_reason(char **reasons, const struct place *place, int error)
{
	_cleanup_(freep) char *reason = describe(place, error);
	char *joined;

	if (!reason)
		return -ENOMEM;
	joined = string_format("%s%s%s", *reasons ? *reasons : "", *reasons ? ", " : "", reason);
	if (!joined)
		return -ENOMEM;
	free(*reasons);
	*reasons = joined;
	return 0;
}

static int probe_places(struct rootfs *root, enum fact_id id, struct facts *facts)
{
	_cleanup_(freep) char *reasons = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		char value[MACHINE_WORD];
		int result;

		if (places[i].id != id)
			continue;
		result = read_place(root, &places[i], value);
		if (result == 0)
			return facts_set(facts, id, value, "%s", places[i].path);
		if (result == -ENOMEM || add_reason(&reasons, &places[i], result) < 0)
			return -ENOMEM;
	}
	return facts_set(facts, id, NULL, "%s", reasons ? reasons : "");
}

/* On R34 and R35 the kernel driver gives the L4T release for its version. */
static int take_release_of_driver(struct facts *facts)
{
	const char *driver = facts->items[FACT_KERNEL_DRIVER].value;

	if (facts->items[FACT_L4T].value || !driver ||
		(!string_has_prefix(driver, "34.") && !string_has_prefix(driver, "35.")))
		return 0;
	return facts_set(facts, FACT_L4T, driver, "the kernel driver's version (%s)",
		facts->items[FACT_KERNEL_DRIVER].source);
}

static int add_model(char **models, const char *model)
{
	char *joined;

	if (*models && strstr(*models, model))
		return 0;
	joined = string_format("%s%s%s", *models ? *models : "", *models ? ", " : "", model);
	if (!joined)
		return -ENOMEM;
	free(*models);
	*models = joined;
	return 0;
}

/* Sorted, so that a reload tells the same: /proc lists as it likes. Returns the count or -errno. */
static int list_gpus(struct rootfs *root, struct dirent ***ret_names)
{
	_cleanup_(rootfs_node_clear) struct rootfs_node node = { .fd = -1 };
	_cleanup_(closep) int fd = -1;
	int result = rootfs_walk(root, GPU_DIRECTORY, NULL, &node);
	int count;

	if (result < 0)
		return result;
	fd = rootfs_reopen(node.fd, O_RDONLY | O_DIRECTORY);
	if (fd < 0)
		return fd;
	count = scandirat(fd, ".", ret_names, NULL, alphasort);
	return count < 0 ? -errno : count;
}

/* Returns 0 also where this one has no model, or -ENOMEM. */
static int read_gpu(struct rootfs *root, const char *name, char **models)
{
	_cleanup_(freep) char *path = string_format(GPU_DIRECTORY "/%s/information", name);
	_cleanup_(freep) char *text = NULL;
	char model[64];
	size_t size;
	int result;

	if (!path)
		return -ENOMEM;
	result = rootfs_read(root, path, SMALL_BYTES_MAX, &text, &size);
	if (result == -ENOMEM)
		return result;
	if (result < 0 || machine_parse_gpu(text, size, model) < 0)
		return 0;
	return add_model(models, model);
}

static int probe_gpu(struct rootfs *root, struct facts *facts)
{
	_cleanup_(freep) char *models = NULL;
	struct dirent **names = NULL;
	int count = list_gpus(root, &names);
	int result = 0;

	for (int i = 0; i < count; i++) {
		if (result == 0 && i < GPUS_MAX && names[i]->d_name[0] != '.')
			result = read_gpu(root, names[i]->d_name, &models);
		free(names[i]);
	}
	free(names);
	if (result < 0 || count == -ENOMEM)
		return -ENOMEM;
	if (models)
		return facts_set(facts, FACT_GPU, models, GPU_DIRECTORY);
	if (count >= 0)
		return facts_set(facts, FACT_GPU, NULL, GPU_DIRECTORY " names no model");
	if (is_absent(count))
		return facts_set(facts, FACT_GPU, NULL, GPU_DIRECTORY " is absent");
	return facts_set(
		facts, FACT_GPU, NULL, GPU_DIRECTORY " cannot be read: %s", strerror(-count));
}

/* A fact that follows from another by a table's row. */
static int set_by_table(struct facts *facts, const struct tables *tables, enum fact_id id,
	enum table_id table, enum fact_id by, const char *value)
{
	const char *key = facts->items[by].value;
	const char *source = tables->origins[table].source;

	if (!key)
		return facts_set(facts, id, NULL, "the %s is unknown", fact_name(by));
	if (!value)
		return facts_set(facts, id, NULL, "%s (%s) has no row for %s", table_file(table),
			source, key);
	return facts_set(facts, id, value, "%s in %s (%s)", key, table_file(table), source);
}

static int look_up(const struct tables *tables, struct facts *facts)
{
	const char *soc = facts->items[FACT_SOC].value;
	const char *l4t = facts->items[FACT_L4T].value;
	const struct soc_row *soc_row = soc ? tables_soc(tables, soc) : NULL;
	const struct l4t_row *l4t_row = l4t ? tables_l4t(tables, l4t, soc) : NULL;
	int result = set_by_table(
		facts, tables, FACT_DEVICE, TABLE_SOC, FACT_SOC, soc_row ? soc_row->device : NULL);

	if (result == 0)
		result = set_by_table(facts, tables, FACT_GPU_STACK, TABLE_SOC, FACT_SOC,
			soc_row ? soc_row->stack : NULL);
	if (result == 0)
		result = set_by_table(facts, tables, FACT_JETPACK, TABLE_L4T, FACT_L4T,
			l4t_row ? l4t_row->jetpack : NULL);
	return result;
}

int probe(struct rootfs *root, const struct tables *tables, struct facts *ret_facts)
{
	static const enum fact_id of_files[] = { FACT_SOC, FACT_L4T, FACT_KERNEL_DRIVER };
	struct facts facts = { 0 };
	int result = 0;

	for (size_t i = 0; i < ARRAY_SIZE(of_files) && result == 0; i++)
		result = probe_places(root, of_files[i], &facts);
	if (result == 0)
		result = probe_gpu(root, &facts);
	if (result == 0)
		result = take_release_of_driver(&facts);
	if (result == 0)
		result = look_up(tables, &facts);
	if (result < 0)
		facts_clear(&facts);
	else
		*ret_facts = facts;
	return result;
}
