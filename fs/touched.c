/* SPDX-License-Identifier: MIT */
#include "touched_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "soname.h"

#define HOW (IN_MASK_ADD | IN_ONLYDIR | IN_EXCL_UNLINK)

static const uint32_t events_of[] = {
	[LEVEL_SELF] = IN_DELETE_SELF | IN_MOVE_SELF | IN_ATTRIB,
	[LEVEL_NAMES] = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB,
	[LEVEL_CONTENT] = IN_MODIFY | IN_CLOSE_WRITE,
};

int touched_new(int inotify, struct touched **ret_touched)
{
	struct touched *touched = calloc(1, sizeof(*touched));
	int result;

	if (!touched)
		return -ENOMEM;
	atomic_init(&touched->references, 1);
	pthread_mutex_init(&touched->lock, NULL);
	touched->error = inotify < 0 ? inotify : 0;
	touched->inotify = inotify < 0 ? -1 : fcntl(inotify, F_DUPFD_CLOEXEC, 3);
	result = inotify >= 0 && touched->inotify < 0 ? -errno : rootfs_avoid_ours(&touched->avoid);
	if (result < 0) {
		touched_unref(touched);
		return result;
	}
	*ret_touched = touched;
	return 0;
}

struct touched *touched_ref(struct touched *touched)
{
	atomic_fetch_add_explicit(&touched->references, 1, memory_order_relaxed);
	return touched;
}

struct touched *touched_unref(struct touched *touched)
{
	if (!touched ||
		atomic_fetch_sub_explicit(&touched->references, 1, memory_order_acq_rel) != 1)
		return NULL;
	closep(&touched->inotify);
	rootfs_avoid_clear(&touched->avoid);
	pthread_mutex_destroy(&touched->lock);
	namemap_clear(&touched->by_inode);
	namemap_clear(&touched->names);
	namemap_clear(&touched->patterns);
	string_list_clear(&touched->texts);
	free(touched->directories);
	free(touched->where);
	free(touched);
	return NULL;
}

/* Under the lock, as all that follows unless it says otherwise. */
static void note(struct touched *touched, int error, const struct rootfs_node *directory)
{
	if (touched->error)
		return;
	touched->error = error;
	if (directory)
		touched->where = rootfs_real_path(directory->root, directory->path);
}

/* Returns whether it is new. */
static bool put(struct touched *touched, struct namemap *map, const char *text, size_t value)
{
	struct string_list *texts = &touched->texts;

	if (namemap_get(map, text, NULL))
		return false;
	if (string_list_add(texts, text) < 0 ||
		namemap_put(map, texts->items[texts->count - 1], value) < 0)
		note(touched, -ENOMEM, NULL);
	return true;
}

bool touched_make_key(char key[TOUCHED_KEY_SIZE], size_t index, const char *name)
{
	return snprintf(key, TOUCHED_KEY_SIZE, "%zx/%s", index, name) < TOUCHED_KEY_SIZE;
}

static bool put_name(struct touched *touched, struct namemap *map, size_t index, const char *name)
{
	char key[TOUCHED_KEY_SIZE];

	return touched_make_key(key, index, name) && put(touched, map, key, index);
}

/* Without the lock: a server may be asked. */
static bool is_followed(const struct touched *touched, const struct rootfs_node *directory)
{
	const char *path = directory->path;
	struct statfs fs;

	if (strcmp(path, "/nix/store") == 0 || string_has_prefix(path, "/nix/store/"))
		return false;
	for (size_t i = 0; i < touched->avoid.count; i++)
		if (touched->avoid.devices[i] == directory->stat.st_dev)
			return false;
	return fstatfs(directory->fd, &fs) == 0 && fs.f_type != PROC_SUPER_MAGIC &&
	       fs.f_type != SYSFS_MAGIC;
}

/* Without the lock. A watch that the directory has already keeps what it has. Returns the watch, or
 * -errno. */
static int add_watch(const struct touched *touched, const struct rootfs_node *directory,
	enum touched_level level)
{
	char path[sizeof("/proc/self/fd/") + 3 * sizeof(int)];
	uint32_t events = HOW;
	int wd;

	for (int i = LEVEL_SELF; i <= (int)level; i++)
		events |= events_of[i];
	snprintf(path, sizeof(path), "/proc/self/fd/%d", directory->fd);
	wd = inotify_add_watch(touched->inotify, path, events);
	return wd < 0 ? -errno : wd;
}

/* Adds the directory with its watch (-EREMOTE: it is not to have one) and level, or raises its
 * level. Returns its index; -1: none. */
static ssize_t keep(struct touched *touched, const char *key, int wd, enum touched_level level,
	const struct rootfs_node *directory)
{
	struct touched_record new = { .wd = wd < 0 ? -1 : wd, .level = level };
	bool failed = wd < 0 && wd != -EREMOTE;
	size_t index;

	if (touched->sealed)
		return -1;
	if (failed)
		note(touched, wd, directory);
	if (namemap_get(&touched->by_inode, key, &index)) {
		struct touched_record *known = &touched->directories[index];

		if (wd >= 0 && known->level < level)
			known->level = level;
		return (ssize_t)index;
	}
	if (array_grow(&touched->directories, &touched->capacity, touched->count, sizeof(new)) <
		0) {
		note(touched, -ENOMEM, NULL);
		return -1;
	}
	put(touched, &touched->by_inode, key, touched->count);
	touched->n_watched += wd >= 0;
	touched->n_unwatched += failed;
	touched->directories[touched->count] = new;
	return (ssize_t)touched->count++;
}

/* Watches the directory as far as it is not. Returns with the lock held: its index, or -1 where it
 * is not watched. *ret_new: it was not before. */
static ssize_t watch_directory(struct touched *touched, const struct rootfs_node *directory,
	enum touched_level level, bool *ret_new)
{
	const struct stat *stat = &directory->stat;
	char key[64];
	size_t index;
	bool known;
	int wd;

	*ret_new = false;
	snprintf(key, sizeof(key), "%jx:%jx", (uintmax_t)stat->st_dev, (uintmax_t)stat->st_ino);
	pthread_mutex_lock(&touched->lock);
	if (touched->sealed || touched->inotify < 0)
		return -1;
	known = namemap_get(&touched->by_inode, key, &index);
	if (known && touched->directories[index].wd < 0)
		return -1;
	if (!known || touched->directories[index].level < level) {
		ssize_t kept;

		pthread_mutex_unlock(&touched->lock);
		wd = known || is_followed(touched, directory) ? add_watch(touched, directory, level)
							      : -EREMOTE;
		pthread_mutex_lock(&touched->lock);
		kept = keep(touched, key, wd, level, directory);
		if (kept < 0 || touched->directories[kept].wd < 0)
			return -1;
		*ret_new = true;
		return kept;
	}
	return (ssize_t)index;
}

bool touched_listing_covers(const struct touched_record *directory, const char *name)
{
	return (directory->any || (directory->driver && soname_classify(name) == SONAME_DRIVER)) &&
	       !soname_is_temporary(name);
}

bool touched_directory(struct touched *touched, const struct rootfs_node *directory)
{
	bool new = false;

	if (!touched)
		return false;
	watch_directory(touched, directory, LEVEL_SELF, &new);
	pthread_mutex_unlock(&touched->lock);
	return new;
}

bool touched_name(struct touched *touched, const struct rootfs_node *directory, const char *name)
{
	bool new = false;
	ssize_t index;

	if (!touched)
		return false;
	index = watch_directory(touched, directory, LEVEL_NAMES, &new);
	if (index >= 0 && !touched_listing_covers(&touched->directories[index], name))
		new |= put_name(touched, &touched->names, (size_t)index, name);
	pthread_mutex_unlock(&touched->lock);
	return new;
}

void touched_list(struct touched *touched, const struct rootfs_node *directory,
	const struct touched_names *names)
{
	ssize_t index;
	bool new;

	if (!touched)
		return;
	index = watch_directory(touched, directory, LEVEL_NAMES, &new);
	if (index >= 0) {
		touched->directories[index].any |= names->any;
		touched->directories[index].driver |= names->driver;
		if (names->pattern)
			put_name(touched, &touched->patterns, (size_t)index, names->pattern);
		for (size_t i = 0; names->patterns && i < names->patterns->count; i++)
			put_name(touched, &touched->patterns, (size_t)index,
				names->patterns->items[i].text);
	}
	pthread_mutex_unlock(&touched->lock);
}

void touched_content(struct touched *touched, const struct rootfs_node *directory)
{
	bool new;

	if (!touched)
		return;
	watch_directory(touched, directory, LEVEL_CONTENT, &new);
	pthread_mutex_unlock(&touched->lock);
}
