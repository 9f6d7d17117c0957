/* SPDX-License-Identifier: MIT */
/* scan: sources over several scans, the cache, trust, what lies under the mount, late layers. */
#include "../compat/cmocka.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "scan_fixture.h"

struct setting {
	struct tree tree;
	struct rootfs *root;
	struct policy_value dir;
	struct policy_layer layer;
	struct policy policy;
	struct scan_request request;
	unsigned offers;
};

static void count_offer(void *context, struct source *source, int fd)
{
	struct setting *s = context;
	struct stat stat;

	assert_int_equal(fstat(fd, &stat), 0);
	assert_int_equal(stat.st_ino, source->identity.ino);
	assert_int_equal(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	s->offers++;
	close(fd);
}

static void setting_new(struct setting *s)
{
	static const struct made library =
		ELF("host/libnvos.so", .soname = "libnvos.so", .build_id_size = 20, .build_id = 9);

	*s = (struct setting){ .dir = { (char *)"/host", NULL, 0 } };
	tree_new(&s->tree);
	make(&s->tree, &library);
	assert_int_equal(rootfs_open(s->tree.top, &s->root), 0);
	s->layer = (struct policy_layer){ .name = (char *)"test", .dirs = { &s->dir, 1, 1 } };
	s->policy = (struct policy){ .layers = &s->layer, .n_layers = 1 };
	s->request = (struct scan_request){ .policy = &s->policy,
		.root = s->root,
		.timeout_ms = 5000,
		.offer = count_offer,
		.offer_context = s };
}

static void setting_clear(struct setting *s)
{
	scan_cache_free(s->request.cache);
	rootfs_unref(s->root);
	tree_remove(&s->tree);
}

/* The source of the only candidate, a reference. */
static struct source *scan_one(struct setting *s)
{
	_cleanup_(diag_clear) struct diag_list diags = { 0 };
	struct layer **layers;
	struct source *source;

	assert_int_equal(scan(&s->request, &layers, &diags), 0);
	assert_int_equal(layers[0]->n_candidates, 1);
	source = source_ref(layers[0]->candidates[0].source);
	layers_free(layers, 1);
	return source;
}

static void test_source(void **state)
{
	_cleanup_(source_unrefp) struct source *source = NULL;
	_cleanup_(freep) char *path = NULL;
	struct setting s;
	struct stat stat;

	(void)state;
	setting_new(&s);
	path = tree_path(&s.tree, "host/libnvos.so");
	assert_int_equal(chmod(path, 06755), 0);
	source = scan_one(&s);
	assert_int_equal(lstat(path, &stat), 0);
	assert_int_equal(s.offers, 1);
	assert_int_equal(source->identity.dev, stat.st_dev);
	assert_int_equal(source->identity.ino, stat.st_ino);
	assert_int_equal(source->identity.size, stat.st_size);
	assert_int_equal(source->identity.build_id_size, 20);
	assert_int_equal(source->identity.build_id[19], 9);
	assert_int_equal(source->mode, S_IFREG | 0755);
	assert_string_equal(source->path, "/host/libnvos.so");
	assert_string_equal(source->real_path, path);
	assert_string_equal(source->elf.soname, "libnvos.so");
	assert_true(source->is_elf);
	assert_false(source->in_store);
	setting_clear(&s);
}

static void test_cache(void **state)
{
	_cleanup_(freep) char *path = NULL;
	struct source *first, *second;
	struct setting s;

	(void)state;
	setting_new(&s);
	s.request.cache = scan_cache_new();
	path = tree_path(&s.tree, "host/libnvos.so");
	first = scan_one(&s);
	second = scan_one(&s);
	assert_ptr_equal(first, second);
	assert_int_equal(s.offers, 1);
	source_unref(second);

	/* Only the ctime changes: another source of the same identity. */
	assert_int_equal(chmod(path, 0700), 0);
	second = scan_one(&s);
	assert_ptr_not_equal(first, second);
	assert_memory_equal(&first->identity, &second->identity, sizeof(first->identity));
	assert_int_equal(second->mode & 0777, 0700);
	assert_int_equal(s.offers, 2);
	source_unref(second);

	/* Another file of the same size in its place. */
	{
		static const struct made library = ELF(
			"host/new", .soname = "libnvos.so", .build_id_size = 20, .build_id = 10);
		_cleanup_(freep) char *new = tree_path(&s.tree, "host/new");

		make(&s.tree, &library);
		assert_int_equal(rename(new, path), 0);
	}
	second = scan_one(&s);
	assert_memory_not_equal(&first->identity, &second->identity, sizeof(first->identity));
	assert_int_equal(second->elf.build_id[0], 10);
	/* What a successful scan does not see is dropped. */
	s.layer.excludes =
		(struct policy_list){ &(struct policy_value){ (char *)"*", NULL, 0 }, 1, 1 };
	{
		struct diag_list diags = { 0 };
		struct layer **layers;

		assert_int_equal(scan(&s.request, &layers, &diags), 0);
		layers_free(layers, 1);
	}
	assert_int_equal(atomic_load(&second->references), 1);
	source_unref(second);
	source_unref(first);
	setting_clear(&s);
}

static void test_trust(void **state)
{
	_cleanup_(diag_clear) struct diag_list diags = { 0 };
	_cleanup_(freep) char *path = NULL;
	struct layer **layers;
	struct setting s;

	(void)state;
	if (geteuid() != 0)
		skip();
	setting_new(&s);
	path = tree_path(&s.tree, "host");
	assert_int_equal(chmod(path, 0777), 0);
	s.request.check_trust = true;
	assert_int_equal(scan(&s.request, &layers, &diags), 0);
	assert_int_equal(layers[0]->n_candidates, 0);
	assert_int_equal(layers[0]->n_rejections, 1);
	assert_true(string_has_prefix(
		layers[0]->rejections[0].text, "it could be replaced by another user: "));
	assert_non_null(strstr(layers[0]->rejections[0].text, path));
	assert_int_equal(s.offers, 0);
	layers_free(layers, 1);
	s.layer.trust = true;
	source_unref(scan_one(&s));
	setting_clear(&s);
}

static void test_under(void **state)
{
	static const struct made made[] = { ELF("run/driver/lib/libnvos.so"),
		ELF("run/driver/lib/libGL.so.1"),
		LINK("run/driver/lib/libnvdc.so", "/host/libnvos.so"),
		TEXT("run/driver/share/vulkan/icd.d/x.json", "{}") };
	_cleanup_(diag_clear) struct diag_list diags = { 0 };
	_cleanup_(rootfs_unrefp) struct rootfs *under = NULL;
	_cleanup_(freep) char *path = NULL, *text = NULL;
	struct layer **layers;
	struct setting s;
	size_t size;
	FILE *stream;

	(void)state;
	setting_new(&s);
	s.layer.dirs.count = 0;
	s.layer.under = true;
	assert_int_equal(scan(&s.request, &layers, &diags), -ENOENT);
	assert_int_equal(diag_count(&diags, DIAG_ERROR), 1);
	for (size_t i = 0; i < ARRAY_SIZE(made); i++)
		make(&s.tree, &made[i]);
	path = tree_path(&s.tree, "run/driver");
	assert_int_equal(
		rootfs_from_fd(open(path, O_PATH | O_CLOEXEC), "/run/driver", s.root, &under), 0);
	s.request.under = under;
	assert_int_equal(scan(&s.request, &layers, &diags), 0);
	stream = open_memstream(&text, &size);
	dump_layer(stream, layers[0], s.tree.top);
	fclose(stream);
	assert_string_equal(text,
		"lib/libnvdc.so -> /host/libnvos.so = /host/libnvos.so\n"
		"lib/libnvos.so = /run/driver/lib/libnvos.so\n"
		"share/vulkan/icd.d/x.json = /run/driver/share/vulkan/icd.d/x.json\n");
	layers_free(layers, 1);
	setting_clear(&s);
}

/* How many threads this process has. */
static unsigned count_threads(void)
{
	DIR *stream = opendir("/proc/self/task");
	unsigned count = 0;
	struct dirent *entry;

	assert_non_null(stream);
	while ((entry = readdir(stream)))
		count += entry->d_name[0] != '.';
	closedir(stream);
	return count;
}

/* A FUSE connection that nobody serves: the lookup in it hangs until it is closed. */
static void test_late(void **state)
{
	_cleanup_(diag_clear) struct diag_list diags = { 0 };
	_cleanup_(freep) char *point = NULL, *options = NULL;
	int fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	unsigned before = count_threads();
	struct layer **layers = NULL;
	struct setting s;

	(void)state;
	setting_new(&s);
	point = tree_path(&s.tree, "hang/x");
	*strrchr(point, '/') = '\0';
	options = string_format("fd=%d,rootmode=40000,user_id=0,group_id=0", fuse);
	if (fuse < 0 || mount("test", point, "fuse", MS_NOSUID | MS_NODEV, options) < 0) {
		setting_clear(&s);
		skip();
	}
	s.dir.text = (char *)"/hang/lib";
	s.request.timeout_ms = 50;
	assert_int_equal(scan(&s.request, &layers, &diags), -ETIMEDOUT);
	assert_int_equal(diag_count(&diags, DIAG_ERROR), 1);
	assert_non_null(strstr(diags.items[0].text, "test"));
	s.layer.optional = true;
	assert_int_equal(scan(&s.request, &layers, &diags), 0);
	assert_int_equal(diag_count(&diags, DIAG_WARNING), 1);
	assert_int_equal(layers[0]->n_sets, 1);
	assert_false(layers[0]->sets[0].present);
	layers_free(layers, 1);
	assert_true(count_threads() >= before + 2);
	/* All that the late threads use is theirs. */
	s.root = rootfs_unref(s.root);
	close(fuse);
	for (unsigned long i = 0; count_threads() > before && i < 1000000; i++)
		sched_yield();
	assert_int_equal(count_threads(), before);
	assert_int_equal(umount2(point, MNT_DETACH), 0);
	setting_clear(&s);
}

/* A16: a layer that is a mount of ours, and a link into one. */
static void test_ours(void **state)
{
	_cleanup_(diag_clear) struct diag_list diags = { 0 };
	_cleanup_(freep) char *point = NULL;
	struct layer **layers = NULL;
	struct setting s;

	(void)state;
	setting_new(&s);
	point = tree_path(&s.tree, "mnt/x");
	*strrchr(point, '/') = '\0';
	tree_link(&s.tree, "host/libcuda.so.1", "/mnt/lib/libcuda.so.1");
	if (mount("gldriverfs:x", point, "tmpfs", 0, NULL) < 0) {
		setting_clear(&s);
		skip();
	}
	assert_int_equal(scan(&s.request, &layers, &diags), 0);
	assert_int_equal(layers[0]->n_candidates, 1);
	assert_int_equal(layers[0]->n_rejections, 1);
	assert_string_equal(
		layers[0]->rejections[0].text, "it lies on a mount of gldriverfs itself");
	layers_free(layers, 1);
	s.dir.text = (char *)"/mnt/lib";
	assert_int_equal(scan(&s.request, &layers, &diags), -EREMOTE);
	assert_int_equal(diag_count(&diags, DIAG_ERROR), 1);
	s.layer.optional = true;
	assert_int_equal(scan(&s.request, &layers, &diags), 0);
	assert_int_equal(diag_count(&diags, DIAG_WARNING), 1);
	assert_false(layers[0]->sets[0].present);
	layers_free(layers, 1);
	assert_int_equal(umount2(point, MNT_DETACH), 0);
	setting_clear(&s);
}

/* Without descriptors a scan fails: it never takes the want for a verdict on a library. */
static void test_shortage(void **state)
{
	struct rlimit before, few;
	unsigned failures = 0, successes = 0;
	struct setting s;

	(void)state;
	setting_new(&s);
	s.layer.optional = true;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = before;
	for (few.rlim_cur = (rlim_t)s.root->fd + 1; few.rlim_cur < (rlim_t)s.root->fd + 16;
		few.rlim_cur++) {
		_cleanup_(diag_clear) struct diag_list diags = { 0 };
		struct layer **layers = NULL;
		int result;

		assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
		result = scan(&s.request, &layers, &diags);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
		if (result == 0) {
			assert_int_equal(layers[0]->n_candidates, 1);
			layers_free(layers, 1);
			successes++;
		} else {
			assert_int_equal(result, -EMFILE);
			assert_int_equal(diag_count(&diags, DIAG_ERROR), 1);
			failures++;
		}
	}
	assert_true(failures >= 3);
	assert_true(successes >= 4);
	setting_clear(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_source),
		cmocka_unit_test(test_cache),
		cmocka_unit_test(test_trust),
		cmocka_unit_test(test_under),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_ours),
		cmocka_unit_test(test_shortage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
