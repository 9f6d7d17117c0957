/* SPDX-License-Identifier: MIT */
#include "probe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"

#define VERSION_BYTES_MAX (64 * 1024)

/* Where the loaded kernel module tells its version, the best first (FACTS.md 4). */
static const char *const version_files[] = {
	"/proc/driver/nvidia/version",
	"/sys/module/nvidia/version",
};

/* The fact's value from one file. Returns 0, -errno of reading, or -EINVAL: no version in it. */
static int read_version(struct rootfs *root, const char *path, char version[32])
{
	_cleanup_(freep) char *text = NULL;
	size_t size;
	int result = rootfs_read(root, path, VERSION_BYTES_MAX, &text, &size);

	if (result < 0)
		return result;
	return machine_parse_kernel_driver(text, size, version) < 0 ? -EINVAL : 0;
}

static int probe_kernel_driver(struct rootfs *root, struct facts *facts)
{
	const char *reached = NULL;
	int why = -ENOENT;

	for (size_t i = 0; i < ARRAY_SIZE(version_files); i++) {
		char version[32];
		int result = read_version(root, version_files[i], version);

		if (result == -ENOMEM)
			return result;
		if (result == 0)
			return facts_set(
				facts, FACT_KERNEL_DRIVER, version, "%s", version_files[i]);
		/* The first file that is there and does not tell is what a user has to look at. */
		if (!reached && result != -ENOENT && result != -ENOTDIR) {
			reached = version_files[i];
			why = result;
		}
	}
	if (!reached)
		return facts_set(facts, FACT_KERNEL_DRIVER, NULL, "%s and %s are absent",
			version_files[0], version_files[1]);
	if (why == -EINVAL)
		return facts_set(facts, FACT_KERNEL_DRIVER, NULL, "%s names no version", reached);
	return facts_set(
		facts, FACT_KERNEL_DRIVER, NULL, "%s cannot be read: %s", reached, strerror(-why));
}

int probe(struct rootfs *root, struct facts *ret_facts)
{
	struct facts facts = { 0 };
	int result = probe_kernel_driver(root, &facts);

	if (result < 0)
		facts_clear(&facts);
	else
		*ret_facts = facts;
	return result;
}
