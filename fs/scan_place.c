/* SPDX-License-Identifier: MIT */
/* scan: one name of a directory, from readdir to candidate or rejection. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "manifest.h"
#include "scan_internal.h"

/* More than any driver or package collection has; it bounds a tree whose links multiply it. */
#define VISITS_MAX 200000

bool scan_is_shortage(int error)
{
	return error == -ENOMEM || error == -EMFILE || error == -ENFILE;
}

bool scan_distrusts(const struct scan_job *job, const struct rootfs_node *node)
{
	return job->check_trust && !job->policy.trust && node->untrusted;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(((const struct scan_name *)a)->name, ((const struct scan_name *)b)->name);
}

static int add_name(struct scan_names *names, const struct dirent *entry)
{
	char *copy;

	if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
		return 0;
	if (array_grow(&names->items, &names->capacity, names->count, sizeof(*names->items)) < 0)
		return -ENOMEM;
	copy = strdup(entry->d_name);
	if (!copy)
		return -ENOMEM;
	names->items[names->count++] = (struct scan_name){ copy, entry->d_type };
	return 0;
}

const struct touched_names scan_all_names = { .any = true };

int scan_list(const struct scan_job *job, const struct rootfs_node *directory,
	const struct touched_names *matter, struct scan_names *ret_names)
{
	struct scan_names names = { 0 };
	struct dirent *entry;
	int fd, result = 0;
	DIR *stream;

	touched_list(job->touched, directory, matter);
	fd = rootfs_reopen(directory->fd, O_RDONLY | O_DIRECTORY);
	if (fd < 0)
		return fd;
	stream = fdopendir(fd);
	if (!stream) {
		result = -errno;
		close(fd);
		return result;
	}
	while (errno = 0, result == 0 && (entry = readdir(stream)))
		result = add_name(&names, entry);
	if (result == 0 && errno)
		result = -errno;
	closedir(stream);
	if (result < 0) {
		scan_names_clear(&names);
		return result;
	}
	if (names.count)
		qsort(names.items, names.count, sizeof(*names.items), compare_names);
	*ret_names = names;
	return 0;
}

void scan_names_clear(struct scan_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->items[i].name);
	free(names->items);
	*names = (struct scan_names){ 0 };
}

int scan_reject(const struct scan_place *place, const char *name, const char *format, ...)
{
	_cleanup_(freep) char *path = string_format("%s/%s", place->shown, name);
	_cleanup_(freep) char *text = NULL;
	va_list arguments;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		text = NULL;
	va_end(arguments);
	if (!path || !text)
		return -ENOMEM;
	return layer_add_rejection(place->job->layer, path, "%s", text);
}

bool scan_visit(const struct scan_place *place)
{
	struct scan_job *job = place->job;

	if (job->visited < VISITS_MAX) {
		job->visited++;
		return true;
	}
	if (job->visited == VISITS_MAX) {
		job->visited++;
		diag_add_as(&job->diags, DIAG_WARNING, "layer-unread", job->policy.file,
			job->policy.line, "layer %s has more than %d entries: the rest is left out",
			job->policy.name, VISITS_MAX);
	}
	return false;
}

/* The text of the link of that name, NULL in *ret_link where it is none. */
static int read_link(const struct scan_place *place, const struct scan_name *name, char **ret_link)
{
	char text[PATH_MAX];
	ssize_t length;

	*ret_link = NULL;
	if (name->type != DT_LNK && name->type != DT_UNKNOWN)
		return 0;
	length = readlinkat(place->directory->fd, name->name, text, sizeof(text));
	if (length < 0)
		return 0;
	*ret_link = strndup(text, (size_t)length);
	return *ret_link ? 0 : -ENOMEM;
}

/* Takes ".", ".." and double slashes out of an absolute path, without looking at any link. */
static void canonicalise(char *path)
{
	char *out = path, *rest = path, *part;

	while ((part = strsep(&rest, "/"))) {
		if (strcmp(part, "..") == 0) {
			while (out > path && *--out != '/')
				;
		} else if (*part && strcmp(part, ".") != 0) {
			size_t length = strlen(part);

			*out++ = '/';
			memmove(out, part, length);
			out += length;
		}
	}
	*out = '\0';
}

/* A link whose target is its own path, as nixpkgs' noBrokenSymlinks tells them: by the texts. */
static bool is_reflexive(const char *directory, const char *name, const char *link)
{
	_cleanup_(freep) char *path = string_format("%s/%s", directory, name);
	_cleanup_(freep) char *target = *link == '/' ? string_format("/%s", link)
						     : string_format("/%s/%s", directory, link);

	if (!path || !target)
		return false;
	canonicalise(target);
	return strcmp(path, target) == 0;
}

static int reject_link(
	const struct scan_place *place, const char *name, enum link_fault fault, const char *text)
{
	int result = scan_reject(place, name, "%s", text);

	if (result == 0)
		layer_set_fault(place->job->layer, fault);
	return result;
}

const char *scan_walk_text(int error)
{
	switch (error) {
	case -EREMOTE:
		return "lies on a mount of gldriverfs itself";
	case -ELOOP:
		return "is a link that leads in a circle";
	case -ENOTDIR:
		return "is no directory";
	case -EACCES:
		return "may not be read";
	default:
		return "cannot be read";
	}
}

static int reject_walk(
	const struct scan_place *place, const char *name, const char *link, int error)
{
	const char *root = place->job->policy.root.text;
	_cleanup_(freep) char *nowhere = NULL;

	if (scan_is_shortage(error))
		return error;
	if (error == -ENOENT && !link)
		return 0; /* removed since it was listed */
	if (error == -ENOENT) {
		nowhere = string_format("it is a link to %s, which leads nowhere%s%s", link,
			root ? " inside " : "", root ? root : "");
		return nowhere ? reject_link(place, name, LINK_DANGLING, nowhere) : -ENOMEM;
	}
	if (error == -ELOOP && link && is_reflexive(place->directory->path, name, link))
		return reject_link(place, name, LINK_REFLEXIVE, "it is a link to itself");
	if (error == -ELOOP)
		return reject_link(place, name, LINK_LOOP, "it is a link that leads in a circle");
	if (error == -EREMOTE)
		return scan_reject(place, name, "it lies on a mount of gldriverfs itself");
	return scan_reject(place, name, "it cannot be reached: %s", strerror(-error));
}

int scan_walk_name(const struct scan_place *place, const struct scan_name *name,
	struct rootfs_node *ret_node, char **ret_link)
{
	_cleanup_(freep) char *link = NULL;
	int result;

	touched_name(place->job->touched, place->directory, name->name);
	result = read_link(place, name, &link);
	if (result < 0)
		return result;
	result = rootfs_walk_at(place->directory, name->name, &place->job->avoid, ret_node);
	if (result < 0)
		return reject_walk(place, name->name, link, result);
	*ret_link = steal_pointer(link);
	return 1;
}

static const char *type_text(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFDIR:
		return "it is a directory";
	case S_IFIFO:
		return "it is a FIFO";
	case S_IFSOCK:
		return "it is a socket";
	case S_IFCHR:
	case S_IFBLK:
		return "it is a device";
	default:
		return "it is not a regular file";
	}
}

static bool has_component(const char *path, const char *component)
{
	size_t length = strlen(component);

	while ((path = strstr(path, component))) {
		if (path[-1] == '/' && (path[length] == '/' || !path[length]))
			return true;
		path += length;
	}
	return false;
}

static bool is_stub(const struct scan_place *place, const struct rootfs_node *node)
{
	return has_component(node->path, "stubs") ||
	       (place->shown[place->shown_root] &&
		       has_component(place->shown + place->shown_root + 1, "stubs"));
}

int scan_take(const struct scan_place *place, const char *name, const struct rootfs_node *node,
	const char *link, enum scan_expect expect)
{
	struct scan_job *job = place->job;
	_cleanup_(source_unrefp) struct source *source = NULL;
	_cleanup_(freep) char *why = NULL, *path = NULL;
	const char *problem = NULL;
	enum manifest_kind kind;
	int result;

	if (!S_ISREG(node->stat.st_mode))
		return scan_reject(place, name, "%s", type_text(node->stat.st_mode));
	if (is_stub(place, node))
		return scan_reject(
			place, name, "it is a stub: a directory of its path is named stubs");
	if (scan_distrusts(job, node))
		return scan_reject(place, name,
			"it could be replaced by another user: %s can be changed by others than "
			"root (trust = yes in the layer serves it)",
			node->untrusted);
	path = string_format("%s/%s", place->into, name);
	if (!path)
		return -ENOMEM;
	kind = manifest_kind(path);
	result = scan_source(
		job, node, kind == MANIFEST_NONE ? expect : EXPECT_MANIFEST, &source, &why);
	if (result == 1)
		return scan_reject(place, name, "%s", why);
	if (result < 0)
		return result;
	if (kind != MANIFEST_NONE && source->is_elf)
		problem = "it is a library, not a file that names one";
	else if (kind != MANIFEST_NONE)
		problem = manifest_problem(kind, source->text, (size_t)source->identity.size);
	if (problem)
		return scan_reject(place, name, "%s", problem);
	return layer_add_candidate(job->layer, path, source, link, place->set, place->curated);
}
