/* SPDX-License-Identifier: MIT */
#include "ownview.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <unistd.h>

#include "mountinfo.h"

#define STACK_SIZE (256 * 1024)

struct ownview {
	int space; /* the first mount namespace */
	int root;  /* setns(2) leads to the namespace's root, which is not a chroot's */
};

/* Whether a copy of the namespace gets what is mounted later. */
static bool is_shared(const struct mountinfo *info)
{
	const struct mountinfo_entry *root = mountinfo_at(info, "/");

	return root && root->shared;
}

/* A mount that is covered by another one has no path: it stays. */
static void detach_copies(dev_t device)
{
	_cleanup_(mountinfo_clear) struct mountinfo info = { 0 };

	if (mountinfo_read(&info) < 0)
		return;
	for (size_t i = info.count; i > 0; i--) {
		const struct mountinfo_entry *entry = &info.entries[i - 1];

		if (entry->device == device && mountinfo_at(&info, entry->mountpoint) == entry)
			(void)umount2(entry->mountpoint, UMOUNT_NOFOLLOW | MNT_DETACH);
	}
}

int ownview_leave(const struct ownview *view)
{
	if (setns(view->space, CLONE_NEWNS) < 0 || fchdir(view->root) < 0 || chroot(".") < 0 ||
		chdir("/") < 0)
		return -errno;
	return 0;
}

/* A mount that were not a slave would be taken off in the first namespace too. */
static int enter(const struct ownview *view, dev_t device)
{
	int error;

	if (unshare(CLONE_NEWNS) < 0)
		return -errno;
	if (mount(NULL, "/", NULL, MS_SLAVE | MS_REC, NULL) < 0) {
		error = -errno;
		(void)ownview_leave(view);
		return error;
	}
	detach_copies(device);
	return 0;
}

int ownview_enter(dev_t device, struct ownview **ret_view)
{
	_cleanup_(mountinfo_clear) struct mountinfo info = { 0 };
	struct ownview *view;
	int error;

	*ret_view = NULL;
	if (geteuid() != 0)
		return 0;
	error = mountinfo_read(&info);
	if (error < 0 || !is_shared(&info))
		return error;
	view = calloc(1, sizeof(*view));
	if (!view)
		return -ENOMEM;
	view->space = open("/proc/thread-self/ns/mnt", O_RDONLY | O_CLOEXEC);
	view->root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	error = view->space < 0 || view->root < 0 ? -errno : enter(view, device);
	if (error < 0) {
		ownview_free(view);
		return error == -EPERM ? 0 : error;
	}
	*ret_view = view;
	return 0;
}

struct visit {
	const struct ownview *view;
	void (*work)(void *context);
	void *context;
	int error;
};

static void *visit_run(void *data)
{
	struct visit *visit = data;

	/* A thread that shares its root and working directory cannot change the namespace. */
	visit->error = unshare(CLONE_FS) < 0 ? -errno : ownview_leave(visit->view);
	if (visit->error == 0)
		visit->work(visit->context);
	return NULL;
}

int ownview_outside(const struct ownview *view, void (*work)(void *context), void *context)
{
	struct visit visit = { view, work, context, 0 };
	pthread_attr_t attributes;
	pthread_t thread;
	int error;

	if (!view) {
		work(context);
		return 0;
	}
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_SIZE);
	error = pthread_create(&thread, &attributes, visit_run, &visit);
	pthread_attr_destroy(&attributes);
	if (error)
		return -error;
	pthread_join(thread, NULL);
	return visit.error;
}

bool ownview_has(const struct ownview *view, int fd)
{
	return view && (fd == view->space || fd == view->root);
}

struct ownview *ownview_free(struct ownview *view)
{
	if (!view)
		return NULL;
	closep(&view->space);
	closep(&view->root);
	free(view);
	return NULL;
}
