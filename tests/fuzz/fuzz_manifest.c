/* SPDX-License-Identifier: MIT */
/* fuzz_manifest: any text as one of the manifests; the input's first byte chooses which. What is
 * changed stays a manifest and is not changed again. */
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const paths[] = { "share/vulkan/icd.d/x.json",
	"share/egl/egl_external_platform.d/x.json", "etc/OpenCL/vendors/x.icd" };

/* Names of an even length are served. */
static const struct source *find(void *context, const char *name)
{
	return strlen(name) % 2 ? NULL : context;
}

static int edit(const struct manifest_place *place, const char *text, size_t size, char **ret_text,
	size_t *ret_size)
{
	struct string_list outside = { 0 };
	int r = manifest_edit(place, text, size, ret_text, ret_size, &outside);

	string_list_clear(&outside);
	if (r < 0)
		abort();
	return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char path[] = "/nix/store/x/lib/y";
	struct source source = { .path = path };
	struct manifest_place place = { .mountpoint = "/m", .find = find, .context = &source };
	_cleanup_(freep) char *text = NULL, *again = NULL;
	enum manifest_kind kind;
	size_t text_size, again_size;

	if (size == 0)
		return 0;
	place.path = paths[data[0] % ARRAY_SIZE(paths)];
	kind = manifest_kind(place.path);
	if (manifest_problem(kind, (const char *)data + 1, size - 1) ||
		edit(&place, (const char *)data + 1, size - 1, &text, &text_size) == 0)
		return 0;
	/* It may have become larger than what is read of a host's. */
	if (text_size <= MANIFEST_MAX && manifest_problem(kind, text, text_size))
		abort();
	if (edit(&place, text, text_size, &again, &again_size) != 0)
		abort();
	return 0;
}
