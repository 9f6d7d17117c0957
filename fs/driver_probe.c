/* SPDX-License-Identifier: MIT */
#include "driver_probe.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "decide_internal.h"
#include "driver_child.h"
#include "driver_closure.h"
#include "rootfs.h"

struct entry {
	struct file_identity *files; /* of the closure */
	size_t n_files;
	struct driver_answer answer;
	bool used; /* by the run under way */
};

struct driver_probe_cache {
	char *helper;
	struct entry **entries;
	size_t count;
	size_t capacity;
};

struct driver_probe_cache *driver_probe_cache_new(const char *helper)
{
	struct driver_probe_cache *cache = calloc(1, sizeof(*cache));

	if (!cache || !helper)
		return cache;
	cache->helper = strdup(helper);
	return cache->helper ? cache : driver_probe_cache_free(cache);
}

static void entry_free(struct entry *entry)
{
	if (entry)
		free(entry->files);
	free(entry);
}

struct driver_probe_cache *driver_probe_cache_free(struct driver_probe_cache *cache)
{
	if (!cache)
		return NULL;
	for (size_t i = 0; i < cache->count; i++)
		entry_free(cache->entries[i]);
	free(cache->entries);
	free(cache->helper);
	free(cache);
	return NULL;
}

static bool is_of(const struct entry *entry, const struct driver_closure *closure)
{
	if (entry->n_files != closure->count)
		return false;
	for (size_t i = 0; i < closure->count; i++)
		if (memcmp(&entry->files[i], &closure->items[i]->identity,
			    sizeof(entry->files[i])) != 0)
			return false;
	return true;
}

static struct entry *entry_new(const struct driver_closure *closure)
{
	struct entry *entry = calloc(1, sizeof(*entry));

	if (!entry)
		return NULL;
	entry->files = calloc(closure->count, sizeof(*entry->files));
	if (!entry->files) {
		entry_free(entry);
		return NULL;
	}
	for (size_t i = 0; i < closure->count; i++)
		entry->files[i] = closure->items[i]->identity;
	entry->n_files = closure->count;
	return entry;
}

/* The scanned file itself, not one that has taken its place. Returns the descriptor or -errno. */
static int open_source(const struct source *source)
{
	_cleanup_(closep) int fd =
		source->root ? rootfs_open_canonical(source->root, source->path) : -ENOENT;
	struct stat stat;

	if (fd < 0)
		return steal_fd(&fd);
	if (fstat(fd, &stat) < 0)
		return -errno;
	return source_matches(source, &stat) ? steal_fd(&fd) : -ESTALE;
}

static void ask(
	const char *helper, const struct driver_closure *closure, struct driver_answer *ret_answer)
{
	int fds[DRIVER_CLOSURE_MAX];
	size_t count = 0;

	*ret_answer = (struct driver_answer){ 0 };
	while (count < closure->count) {
		fds[count] = open_source(closure->items[count]);
		if (fds[count] < 0) {
			snprintf(ret_answer->why, sizeof(ret_answer->why), "%.180s: %s",
				closure->items[count]->real_path, strerror(-fds[count]));
			break;
		}
		count++;
	}
	if (count == closure->count)
		driver_child_ask(helper, fds, count, DRIVER_TIME_MS, ret_answer);
	for (size_t i = 0; i < count; i++)
		closep(&fds[i]);
}

static const struct driver_answer *answer_of(
	struct driver_probe_cache *cache, const struct driver_closure *closure)
{
	struct entry *entry;

	for (size_t i = 0; i < cache->count; i++) {
		if (!is_of(cache->entries[i], closure))
			continue;
		cache->entries[i]->used = true;
		return &cache->entries[i]->answer;
	}
	if (array_grow(&cache->entries, &cache->capacity, cache->count, sizeof(struct entry *)) < 0)
		return NULL;
	entry = entry_new(closure);
	if (!entry)
		return NULL;
	ask(cache->helper, closure, &entry->answer);
	entry->used = true;
	cache->entries[cache->count++] = entry;
	return &entry->answer;
}

static int probe_one(struct driver_probe_cache *cache, const struct decide_input *input,
	const struct layer *layer, const struct candidate *libcuda, struct driver_probe *ret_probe)
{
	const struct driver_answer *answer;
	struct driver_closure closure;

	*ret_probe = (struct driver_probe){ .source = libcuda->source };
	if (!cache->helper)
		cache->helper = driver_child_find();
	if (!cache->helper) {
		ret_probe->why = "gldriverfs-probe is not installed";
		return 0;
	}
	if (driver_closure_find(input->layers, input->n_layers, layer, libcuda, &closure) < 0) {
		ret_probe->why = "it needs too many libraries";
		return 0;
	}
	answer = answer_of(cache, &closure);
	if (!answer)
		return -ENOMEM;
	memcpy(ret_probe->cuda, answer->cuda, sizeof(ret_probe->cuda));
	ret_probe->why = answer->cuda[0] ? NULL : answer->why;
	return 0;
}

/* Drops what the run has not used: those files are gone. */
static void sweep(struct driver_probe_cache *cache)
{
	size_t kept = 0;

	for (size_t i = 0; i < cache->count; i++) {
		if (cache->entries[i]->used)
			cache->entries[kept++] = cache->entries[i];
		else
			entry_free(cache->entries[i]);
	}
	cache->count = kept;
}

int driver_probe_run(struct driver_probe_cache *cache, const struct decide_input *input,
	struct driver_probe **ret_probes, size_t *ret_count)
{
	_cleanup_(freep) struct decide_set *sets = NULL;
	_cleanup_(freep) struct driver_probe *probes = NULL;
	struct decide_host host;
	size_t n_sets = 0, count = 0;
	int result = decide_find_sets(input, &sets, &n_sets);

	if (result < 0)
		return result;
	decide_find_host(input, input->probed, &host);
	probes = calloc(n_sets + 1, sizeof(*probes));
	if (!probes)
		return -ENOMEM;
	for (size_t i = 0; i < cache->count; i++)
		cache->entries[i]->used = false;
	if (host.libcuda)
		result = probe_one(cache, input, host.layer, host.libcuda, &probes[count++]);
	for (size_t i = 0; result == 0 && i < n_sets; i++)
		result = probe_one(cache, input, sets[i].layer, sets[i].libcuda, &probes[count++]);
	sweep(cache);
	if (result < 0)
		return result;
	*ret_probes = steal_pointer(probes);
	*ret_count = count;
	return 0;
}

void driver_probe_tell(const struct driver_probe *probes, size_t count, struct diag_list *diags)
{
	for (size_t i = 0; i < count; i++)
		if (probes[i].why)
			diag_add_as(diags, DIAG_INFO, "driver-probe", probes[i].source->real_path,
				0, "cuDriverGetVersion could not be asked: %s", probes[i].why);
}
