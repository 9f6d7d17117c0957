/* SPDX-License-Identifier: MIT */
/* decide: the facts of host and compat, each with what told it. */
#include <errno.h>
#include <stdio.h>

#include "decide_internal.h"

static int set_driver(
	struct facts *facts, enum fact_id id, const struct candidate *libcuda, const char *driver)
{
	if (!libcuda)
		return facts_set(facts, id, NULL, "no layer has a libcuda");
	if (!driver)
		return facts_set(facts, id, NULL, "the name of %s has no driver version",
			libcuda->source->real_path);
	return facts_set(facts, id, driver, "the name of %s", libcuda->source->real_path);
}

static int set_unknown_cuda(struct facts *facts, enum fact_id id, const struct decide_cuda *cuda,
	const struct decide_machine *machine, const char *driver)
{
	if (cuda->unasked)
		return facts_set(facts, id, NULL, "cuDriverGetVersion could not be asked: %s",
			cuda->unasked);
	if (driver)
		return facts_set(facts, id, NULL, "driver %s is of no known branch", driver);
	if (machine && machine->l4t)
		return facts_set(facts, id, NULL,
			"L4T release %s is in no table, and no cuda =", machine->l4t);
	if (machine && machine->tegra)
		return facts_set(facts, id, NULL, "the L4T release is unknown, and no cuda =");
	return facts_set(facts, id, NULL, "no note, name, driver version or cuda = tells it");
}

static int set_cuda(struct facts *facts, enum fact_id id, const struct decide_cuda *cuda,
	const struct decide_machine *machine, const char *driver, const struct tables *tables)
{
	switch (cuda->from) {
	case FROM_POLICY:
		if (!cuda->said->file)
			return facts_set(facts, id, cuda->version, "the policy");
		return facts_set(
			facts, id, cuda->version, "%s:%u", cuda->said->file, cuda->said->line);
	case FROM_NOTE:
		return facts_set(facts, id, cuda->version, "its forward-compatibility note");
	case FROM_PATH:
		return facts_set(facts, id, cuda->version, "the name of %s", cuda->where);
	case FROM_BRANCH:
		return facts_set(facts, id, cuda->version, "the branch of driver %s (%s, %s)",
			cuda->where, table_file(TABLE_DRIVER),
			tables->origins[TABLE_DRIVER].source);
	case FROM_L4T:
		return facts_set(facts, id, cuda->version, "L4T release %s (%s, %s)", cuda->where,
			table_file(TABLE_L4T), tables->origins[TABLE_L4T].source);
	case FROM_PROBE:
		return facts_set(facts, id, cuda->version, "cuDriverGetVersion of %s", cuda->where);
	case FROM_NOTHING:
		break;
	}
	return set_unknown_cuda(facts, id, cuda, machine, driver);
}

static int set_note(struct facts *facts, const struct candidate *libcuda)
{
	const struct compat_note *note = libcuda->source->note;
	const char *path = libcuda->source->real_path;
	char drivers[NOTE_DRIVERS_MAX * 12] = "";
	_cleanup_(freep) char *value = NULL;
	size_t used = 0;

	if (!note || note->state == NOTE_ABSENT)
		return facts_set(facts, FACT_COMPAT_NOTE, NULL, "%s has none", path);
	if (note->state == NOTE_INVALID)
		return facts_set(facts, FACT_COMPAT_NOTE, NULL, "that of %s cannot be used: %s",
			path, note->problem);
	for (size_t i = 0; i < note->n_drivers; i++)
		used += (size_t)snprintf(
			drivers + used, sizeof(drivers) - used, " %u", note->drivers[i]);
	value = used ? string_format("CUDA %s, drivers%s", note->cuda, drivers)
		     : string_format("CUDA %s", note->cuda);
	if (!value)
		return -ENOMEM;
	return facts_set(facts, FACT_COMPAT_NOTE, value, "%s", path);
}

int decide_set_facts(struct facts *facts, const struct decide_host *host,
	const struct decide_set *set, const struct tables *tables)
{
	static const enum fact_id of_compat[] = { FACT_COMPAT_DRIVER, FACT_COMPAT_CUDA,
		FACT_COMPAT_NOTE };

	if (set_driver(facts, FACT_HOST_DRIVER, host->libcuda, host->file_driver) < 0 ||
		set_cuda(facts, FACT_HOST_CUDA, &host->cuda, &host->machine, host->driver, tables) <
			0)
		return -ENOMEM;
	for (size_t i = 0; !set && i < ARRAY_SIZE(of_compat); i++) {
		if (facts_set(facts, of_compat[i], NULL, "no compat layer has a libcuda") < 0)
			return -ENOMEM;
	}
	if (!set)
		return 0;
	if (set_driver(facts, FACT_COMPAT_DRIVER, set->libcuda, set->driver) < 0 ||
		set_cuda(facts, FACT_COMPAT_CUDA, &set->cuda, NULL, set->driver, tables) < 0)
		return -ENOMEM;
	return set_note(facts, set->libcuda);
}
