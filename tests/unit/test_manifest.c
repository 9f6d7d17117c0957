/* SPDX-License-Identifier: MIT */
#include "../compat/cmocka.h"

#include "fake.h"
#include "manifest.h"

#define ICD   "share/vulkan/icd.d/x.json"
#define LAYER "share/vulkan/implicit_layer.d/x.json"
#define GLVND "share/glvnd/egl_vendor.d/x.json"
#define EGL   "share/egl/egl_external_platform.d/x.json"
#define CL    "etc/OpenCL/vendors/x.icd"

static void test_kinds(void **state)
{
	static const struct {
		const char *path;
		enum manifest_kind kind;
	} cases[] = {
		{ ICD, MANIFEST_RELATIVE },
		{ "etc/vulkan/icd.d/x.json", MANIFEST_RELATIVE },
		{ LAYER, MANIFEST_RELATIVE },
		{ GLVND, MANIFEST_RELATIVE },
		{ EGL, MANIFEST_ABSOLUTE },
		{ CL, MANIFEST_ICD },
		{ "etc/OpenCL/vendors/x.json", MANIFEST_NONE },
		{ "share/vulkan/icd.d/x.icd", MANIFEST_NONE },
		{ "share/vulkan/icd.d/y/x.json", MANIFEST_NONE },
		{ "share/drirc.d/x.json", MANIFEST_NONE },
		{ "x.json", MANIFEST_NONE },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		size_t slashes = 0;

		for (const char *at = cases[i].path; *at; at++)
			slashes += *at == '/';
		assert_true(cases[i].kind != MANIFEST_RELATIVE || slashes == 3);
		if (manifest_kind(cases[i].path) != cases[i].kind)
			fail_msg("%s: %d", cases[i].path, manifest_kind(cases[i].path));
	}
}

/* lib/ has libGLX_nvidia.so.0 and "a\"b.so", from /h, and libstore.so from a store. */
static const struct source *find(void *context, const char *name)
{
	struct source *const *sources = context;

	if (strcmp(name, "libGLX_nvidia.so.0") == 0 || strcmp(name, "a\"b.so") == 0)
		return sources[0];
	return strcmp(name, "libstore.so") == 0 ? sources[1] : NULL;
}

static const struct {
	const char *path, *text, *expected; /* NULL: unchanged */
	const char *outside;                /* NULL: nothing */
} cases[] = {
	{ ICD, "{ \"ICD\" : {\"api\":1,\t\"library_path\" :\"libGLX_nvidia.so.0\" } }\n",
		"{ \"ICD\" : {\"api\":1,\t\"library_path\" :\"../../../lib/libGLX_nvidia.so.0\" } "
		"}\n",
		NULL },
	{ GLVND, "{\"ICD\":{\"library_path\":\"/usr/lib/libGLX_nvidia.so.0\"}}",
		"{\"ICD\":{\"library_path\":\"../../../lib/libGLX_nvidia.so.0\"}}", NULL },
	{ EGL, "{\"ICD\":{\"library_path\":\"libGLX_nvidia.so.0\"}}",
		"{\"ICD\":{\"library_path\":\"/m/lib/libGLX_nvidia.so.0\"}}", NULL },
	{ CL, " libGLX_nvidia.so.0 \r\nmore\n", " /m/lib/libGLX_nvidia.so.0 \r\nmore\n", NULL },
	{ CL, "libGLX_nvidia.so.0", "/m/lib/libGLX_nvidia.so.0", NULL },
	/* Escapes, in the key too; a byte order mark. */
	{ ICD, "\xef\xbb\xbf{\"I\\u0043D\":{\"library\\u005fpath\":\"lib\\u0047LX_nvidia.so.0\"}}",
		"\xef\xbb\xbf{\"I\\u0043D\":{\"library\\u005fpath\":\"../../../lib/"
		"libGLX_nvidia.so.0\"}}",
		NULL },
	{ ICD, "{\"ICD\":{\"library_path\":\"\\/x\\/a\\\"b.so\"}}",
		"{\"ICD\":{\"library_path\":\"../../../lib/a\\\"b.so\"}}", NULL },
	/* A key twice: readers take the first or the last. A way that only this mount does not
	   have. */
	{ GLVND,
		"{\"ICD\":{\"library_path\":\"libGLX_nvidia.so.0\",\"library_path\":\"libx.so\"},"
		"\"ICD\":{\"library_path\":\"../y/../libGLX_nvidia.so.0\"}}",
		"{\"ICD\":{\"library_path\":\"../../../lib/libGLX_nvidia.so.0\","
		"\"library_path\":\"libx.so\"},"
		"\"ICD\":{\"library_path\":\"../../../lib/libGLX_nvidia.so.0\"}}",
		"libx.so" },
	/* Layers; names that only look alike. */
	{ LAYER, "{\"layer\":{\"library_path\":\"libGLX_nvidia.so.0\"}}",
		"{\"layer\":{\"library_path\":\"../../../lib/libGLX_nvidia.so.0\"}}", NULL },
	{ LAYER,
		"{\"layers\":[{\"x\":{},\"library_path\":\"libGLX_nvidia.so.0\"},[\"library_path\"]"
		","
		"{\"library_path\":\"./libGLX_nvidia.so.0\"}]}",
		"{\"layers\":[{\"x\":{},\"library_path\":\"../../../lib/libGLX_nvidia.so.0\"},"
		"[\"library_path\"],{\"library_path\":\"../../../lib/libGLX_nvidia.so.0\"}]}",
		NULL },
	{ ICD,
		"{\"library_path\":\"libGLX_nvidia.so.0\",\"ICD\":{\"x\":{\"library_path\":"
		"\"libGLX_nvidia.so.0\"},\"y\":\"library_path\",\"z\":\"libGLX_nvidia.so.0\"}}",
		NULL, NULL },
	{ ICD, "{\"ICD\":{\"library_path\":7},\"layer\":[{\"library_path\":\"q\"}]}", NULL, NULL },
	/* Right already; outside; in a store: the served file's directory, or another. */
	{ ICD, "{\"ICD\":{\"library_path\":\"../../../lib/libGLX_nvidia.so.0\"}}", NULL, NULL },
	{ ICD, "{\"ICD\":{\"library_path\":\"/opt/libx.so\"}}", NULL, "/opt/libx.so" },
	{ CL, "libx.so\n", NULL, "libx.so" },
	{ ICD, "{\"ICD\":{\"library_path\":\"/nix/store/s/lib/libstore.so\"}}",
		"{\"ICD\":{\"library_path\":\"../../../lib/libstore.so\"}}", NULL },
	{ ICD, "{\"ICD\":{\"library_path\":\"/nix/store/t/lib/libstore.so\"}}", NULL, NULL },
	{ ICD, "{\"ICD\":{\"library_path\":\"/nix/store/t/lib/other.so\"}}", NULL, NULL },
	{ ICD, "{\"ICD\":{\"library_path\":\"\"}}", NULL, "" },
};

static void test_edits(void **state)
{
	struct source *sources[] = { fake_source("/h/libGLX_nvidia.so.550.1"),
		fake_source("/nix/store/s/lib/libstore.so.1") };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct manifest_place place = { cases[i].path, "/m", find, sources };
		/* Not a byte behind the text may be read. */
		size_t size = strlen(cases[i].text), got_size = 0;
		_cleanup_(freep) char *text = malloc(size);
		_cleanup_(freep) char *got = NULL;
		struct string_list outside = { 0 };

		memcpy(text, cases[i].text, size);
		assert_null(manifest_problem(manifest_kind(cases[i].path), text, size));
		assert_int_equal(manifest_edit(&place, text, size, &got, &got_size, &outside),
			cases[i].expected != NULL);
		if (cases[i].expected && (got_size != strlen(cases[i].expected) ||
						 memcmp(got, cases[i].expected, got_size) != 0))
			fail_msg("%s: got %.*s", cases[i].text, (int)got_size, got);
		assert_int_equal(outside.count, cases[i].outside != NULL);
		if (cases[i].outside)
			assert_string_equal(outside.items[0], cases[i].outside);
		string_list_clear(&outside);
	}
	source_unref(sources[0]);
	source_unref(sources[1]);
}

static void test_problems(void **state)
{
	static const struct {
		enum manifest_kind kind;
		const char *text, *problem;
	} bad[] = {
		{ MANIFEST_RELATIVE, "", "no valid JSON" },
		{ MANIFEST_RELATIVE, "{\"ICD\":{},}", "no valid JSON" },
		{ MANIFEST_RELATIVE, "{} {}", "no valid JSON" },
		{ MANIFEST_RELATIVE, "[]", "no object" },
		{ MANIFEST_ICD, "", "names no library" },
		{ MANIFEST_ICD, " \t\nlibx.so\n", "names no library" },
	};
	static char large[MANIFEST_MAX + 1], deep[512];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		const char *problem =
			manifest_problem(bad[i].kind, bad[i].text, strlen(bad[i].text));

		if (!problem || !strstr(problem, bad[i].problem))
			fail_msg("'%s': %s", bad[i].text, problem ? problem : "fine");
	}
	memset(large, ' ', sizeof(large));
	memcpy(large, "{}", 2);
	assert_non_null(manifest_problem(MANIFEST_RELATIVE, large, sizeof(large)));
	assert_null(manifest_problem(MANIFEST_RELATIVE, large, sizeof(large) - 1));
	assert_non_null(manifest_problem(MANIFEST_ICD, NULL, 0));
	assert_non_null(manifest_problem(MANIFEST_ICD, "a\0b", 3));
	strcpy(deep, "{\"x\":");
	memset(deep + 5, '[', 200);
	memset(deep + 205, ']', 200);
	strcpy(deep + 405, "}");
	assert_non_null(manifest_problem(MANIFEST_RELATIVE, deep, strlen(deep)));
}

static struct source *text_source(const char *path, const char *text)
{
	struct source *source = fake_source(path);

	source->text = strdup(text);
	source->identity.size = strlen(text);
	return source;
}

/* In a view: an overlay over the whole, the other files untouched, a word about what is outside. */
static void test_view(void **state)
{
	struct view *view = view_new();
	struct source *icd =
		text_source("/h/i.json", "{\"ICD\":{\"library_path\":\"libGLX_nvidia.so.0\"}}");
	struct source *other = text_source("/h/o.json", "{\"ICD\":{\"library_path\":\"libo.so\"}}");
	/* Right as it is, below lib/; and two that are not there. */
	struct source *deep = text_source("/h/d.json",
		"{\"layers\":[{\"library_path\":\"../../../lib/vdpau/x/libd.so\"},"
		"{\"library_path\":\"../../../lib/vdpau/libd.so\"},"
		"{\"library_path\":\"../../../lib/vdpau/x\"}]}");
	struct source *library = fake_source("/h/libGLX_nvidia.so.0");
	_cleanup_(diag_clear) struct diag_list diags = { 0 };
	const struct view_entry *entry;

	(void)state;
	view_add_file(view, "lib/libGLX_nvidia.so.0", library, "host");
	view_add_file(view, ICD, icd, "host");
	view_add_file(view, "share/vulkan/icd.d/o.json", other, "host");
	view_add_file(view, "share/drirc.d/i.json", icd, "host");
	view_add_file(view, LAYER, deep, "host");
	view_add_file(view, "lib/vdpau/x/libd.so", library, "host");
	assert_int_equal(manifest_edit_view(view, "/m", &diags), 0);
	assert_int_equal(view_finish(view), 0);
	entry = view_find(view, ICD);
	assert_non_null(entry->overlay);
	assert_int_equal(entry->overlay->base, 0);
	assert_int_equal(view_entry_size(entry), icd->identity.size + strlen("../../../lib/"));
	assert_null(view_find(view, "share/vulkan/icd.d/o.json")->overlay);
	assert_null(view_find(view, "share/drirc.d/i.json")->overlay);
	assert_null(view_find(view, LAYER)->overlay);
	assert_int_equal(diags.count, 3);
	assert_string_equal(diags.items[0].id, "manifest-outside");
	assert_string_equal(diags.items[0].file, "/h/o.json");
	assert_non_null(strstr(diags.items[1].text, "names ../../../lib/vdpau/libd.so,"));
	assert_non_null(strstr(diags.items[2].text, "names ../../../lib/vdpau/x,"));
	view_free(view);
	source_unref(icd);
	source_unref(other);
	source_unref(deep);
	source_unref(library);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_edits),
		cmocka_unit_test(test_problems),
		cmocka_unit_test(test_view),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
