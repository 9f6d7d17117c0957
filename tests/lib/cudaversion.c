/* SPDX-License-Identifier: MIT */
/* cudaversion: what a CUDA program does first: loads libcuda and asks for its version. */
#include <dlfcn.h>
#include <stdio.h>

int main(void)
{
	void *cuda = dlopen("libcuda.so.1", RTLD_NOW);
	int (*get_version)(int *) = NULL;
	int version = 0;

	if (cuda)
		*(void **)&get_version = dlsym(cuda, "cuDriverGetVersion");
	if (!get_version || get_version(&version) != 0) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	printf("%d\n", version);
	return 0;
}
