/* SPDX-License-Identifier: MIT */
/* vulkan LIBRARY — a Vulkan program: loads the loader, asks for the drivers' extensions, makes an
 * instance and prints both results. Written without Vulkan's headers: their structures have not
 * changed since 1.0. */
#include <dlfcn.h>
#include <stdio.h>

/* VkInstanceCreateInfo of sType 1, VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO. */
struct create_info {
	int type;
	const void *next;
	unsigned flags;
	const void *application;
	unsigned n_layers;
	const char *const *layers;
	unsigned n_extensions;
	const char *const *extensions;
};

int main(int argc, char **argv)
{
	struct create_info info = { .type = 1 };
	int (*enumerate)(const char *layer, unsigned *count, void *properties);
	int (*create)(const struct create_info *info, const void *allocator, void **ret_instance);
	void (*destroy)(void *instance, const void *allocator);
	void *loader = argc == 2 ? dlopen(argv[1], RTLD_NOW) : NULL, *instance = NULL;
	unsigned count = 0;
	int enumerated, created;

	if (!loader) {
		fprintf(stderr, "%s\n", argc == 2 ? dlerror() : "usage: vulkan LIBRARY");
		return 2;
	}
	*(void **)&enumerate = dlsym(loader, "vkEnumerateInstanceExtensionProperties");
	*(void **)&create = dlsym(loader, "vkCreateInstance");
	*(void **)&destroy = dlsym(loader, "vkDestroyInstance");
	if (!enumerate || !create || !destroy)
		return 2;
	enumerated = enumerate(NULL, &count, NULL);
	created = create(&info, NULL, &instance);
	printf("extensions %d instance %d\n", enumerated, created);
	if (created == 0)
		destroy(instance, NULL);
	return created == 0 ? 0 : 1;
}
