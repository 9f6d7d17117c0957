/* SPDX-License-Identifier: MIT */
/* fuzz_cdi: the readers of JSON from the host (CDI specs, manifests) on any bytes. clang
 * -fsanitize=fuzzer,address,undefined. */
#include <errno.h>
#include <stdlib.h>

#include "cdi.h"
#include "hostplace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(diag_clear) struct diag_list diags = { 0 };
	_cleanup_(cdi_clear) struct cdi cdi = { 0 };
	_cleanup_(freep) char *why = NULL;
	int result = cdi_parse("fuzz", (const char *)data, size, &cdi, &diags, &why);

	if ((result != 0 && result != -EINVAL) || (result == -EINVAL) != (why != NULL))
		abort();
	for (size_t i = 0; i < cdi.count; i++)
		if (*cdi.items[i].host_path != '/' || *cdi.items[i].container_path != '/')
			abort();
	for (size_t i = 0; i < HOSTPLACE_COUNT; i++)
		hostplace_names_driver(hostplaces[i].into, (const char *)data, size);
	return 0;
}
