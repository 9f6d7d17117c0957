/* SPDX-License-Identifier: MIT */
/* cudadevice: loads libcuda, asks for its version, starts it, counts devices; then prints from
 * where each driver library came. Exit 1 if libcuda cannot be loaded or tells no version, 3 if only
 * cuInit or what follows fails. */
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

/* Calls NAME, if it is there, with one argument; prints its result, and the value that it gave. */
static int call(void *cuda, const char *name, int *value)
{
	int (*function)(int *) = NULL;
	int result;

	*(void **)&function = dlsym(cuda, name);
	if (!function) {
		printf("%s: absent\n", name);
		return -1;
	}
	result = function(value);
	printf("%s: error %d, value %d\n", name, result, *value);
	return result;
}

/* cuInit takes flags, not a pointer. */
static int start(void *cuda)
{
	int (*init)(unsigned int) = NULL;
	int result;

	*(void **)&init = dlsym(cuda, "cuInit");
	if (!init) {
		puts("cuInit: absent");
		return -1;
	}
	result = init(0);
	printf("cuInit: error %d\n", result);
	return result;
}

static int print(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	(void)data;
	if (strstr(info->dlpi_name, "/libcuda") || strstr(info->dlpi_name, "/libnv"))
		printf("loaded: %s\n", info->dlpi_name);
	return 0;
}

int main(void)
{
	void *cuda = dlopen("libcuda.so.1", RTLD_NOW);
	int version = 0, count = 0, rc = 0;

	if (!cuda) {
		printf("libcuda.so.1: %s\n", dlerror());
		return 1;
	}
	if (call(cuda, "cuDriverGetVersion", &version) != 0)
		rc = 1;
	else if (start(cuda) != 0 || call(cuda, "cuDeviceGetCount", &count) != 0)
		rc = 3;
	dl_iterate_phdr(print, NULL);
	return rc;
}
