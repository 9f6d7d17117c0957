/* SPDX-License-Identifier: MIT */
#include "../compat/cmocka.h"
#include "world.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rootfs.h"

char *world_directory(void)
{
	char *directory = strdup("/tmp/gldriverfs-proto.XXXXXX");

	assert_non_null(mkdtemp(directory));
	return directory;
}

void world_remove(char *directory)
{
	_cleanup_(freep) char *command = string_format("rm -rf '%s'", directory);

	assert_int_equal(system(command), 0);
	free(directory);
}

static void drop_root(struct source *source)
{
	source->root = rootfs_unref(source->root);
}

struct source *world_source(
	const char *directory, const char *name, const char *content, struct fdpool *offer)
{
	struct source *source = calloc(1, sizeof(*source));
	struct stat st;
	int fd;

	assert_non_null(source);
	source->references = 1;
	source->path = string_format("%s/%s", directory, name);
	source->real_path = strdup(source->path);
	fd = open(source->path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, content, strlen(content)), strlen(content));
	close(fd);
	fd = open(source->path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(fstat(fd, &st), 0);
	source->identity = (struct file_identity){
		.dev = st.st_dev,
		.ino = st.st_ino,
		.size = (uint64_t)st.st_size,
		.mtime_sec = st.st_mtim.tv_sec,
		.mtime_nsec = (uint32_t)st.st_mtim.tv_nsec,
	};
	source->mode = st.st_mode;
	source->uid = st.st_uid;
	source->gid = st.st_gid;
	assert_int_equal(rootfs_open("/", &source->root), 0);
	source->release = drop_root;
	if (offer)
		fdpool_offer(offer, source, fd);
	else
		close(fd);
	return source;
}

struct generation *world_generation(struct view *view)
{
	struct generation *generation = calloc(1, sizeof(*generation));

	assert_non_null(generation);
	generation->references = 1;
	generation->resolution = calloc(1, sizeof(*generation->resolution));
	assert_non_null(generation->resolution);
	assert_int_equal(view_identify(view), 0);
	assert_int_equal(view_finish(view), 0);
	generation->resolution->view = view;
	generation->view = view;
	return generation;
}
