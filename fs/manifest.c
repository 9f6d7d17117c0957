/* SPDX-License-Identifier: MIT */
#include "manifest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "jsonhelp.h"

/* From the documentation of the Vulkan loader, of libglvnd, of eglexternalplatform and of ocl-icd.
 */
static const struct {
	const char *directory;
	const char *suffix;
	enum manifest_kind kind;
} kinds[] = {
	{ "etc/OpenCL/vendors", ".icd", MANIFEST_ICD },
	{ "etc/egl/egl_external_platform.d", ".json", MANIFEST_ABSOLUTE },
	{ "etc/glvnd/egl_vendor.d", ".json", MANIFEST_RELATIVE },
	{ "etc/vulkan/explicit_layer.d", ".json", MANIFEST_RELATIVE },
	{ "etc/vulkan/icd.d", ".json", MANIFEST_RELATIVE },
	{ "etc/vulkan/implicit_layer.d", ".json", MANIFEST_RELATIVE },
	{ "share/egl/egl_external_platform.d", ".json", MANIFEST_ABSOLUTE },
	{ "share/glvnd/egl_vendor.d", ".json", MANIFEST_RELATIVE },
	{ "share/vulkan/explicit_layer.d", ".json", MANIFEST_RELATIVE },
	{ "share/vulkan/icd.d", ".json", MANIFEST_RELATIVE },
	{ "share/vulkan/implicit_layer.d", ".json", MANIFEST_RELATIVE },
};

enum {
	NESTING_MAX = 64,
	BOM_SIZE = 3,
};

/* What an object or array of the manifest is. */
enum role {
	ROLE_OTHER,
	ROLE_ROOT,
	ROLE_LAYERS,  /* the array "layers" */
	ROLE_LIBRARY, /* an object that has a library_path */
};

/* Finds, one after another, the strings that are a library_path in a valid JSON text. */
struct walk {
	const char *at;
	const char *end;
	size_t depth;
	struct {
		enum role role;
		bool object;
	} frames[NESTING_MAX];
	bool wants_key; /* the next string is one */
	char key[16];   /* the last one; "" where it is longer */
};

enum manifest_kind manifest_kind(const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t length = slash ? (size_t)(slash - path) : 0;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (strlen(kinds[i].directory) == length &&
			strncmp(kinds[i].directory, path, length) == 0 &&
			string_has_suffix(path, kinds[i].suffix))
			return kinds[i].kind;
	return MANIFEST_NONE;
}

size_t manifest_bom(const char *text, size_t size)
{
	return size >= BOM_SIZE && memcmp(text, "\xef\xbb\xbf", BOM_SIZE) == 0 ? BOM_SIZE : 0;
}

/* The bytes of a JSON string with its quotes, decoded (owned by the caller); NULL without memory.
 */
static char *decode(const char *token, size_t size)
{
	_cleanup_(jsonhelp_decrefp) json_t *value = json_loadb(token, size, JSON_DECODE_ANY, NULL);

	return value ? strdup(json_string_value(value)) : NULL;
}

static enum role role_of(const struct walk *walk, bool object)
{
	enum role above = walk->depth > 0 ? walk->frames[walk->depth - 1].role : ROLE_OTHER;

	if (walk->depth == 0)
		return ROLE_ROOT;
	if (above == ROLE_LAYERS && object)
		return ROLE_LIBRARY;
	if (above != ROLE_ROOT)
		return ROLE_OTHER;
	if (object && (strcmp(walk->key, "ICD") == 0 || strcmp(walk->key, "layer") == 0))
		return ROLE_LIBRARY;
	return !object && strcmp(walk->key, "layers") == 0 ? ROLE_LAYERS : ROLE_OTHER;
}

static int take_key(struct walk *walk, const char *token, size_t size)
{
	_cleanup_(freep) char *key = decode(token, size);

	if (!key)
		return -ENOMEM;
	walk->key[0] = '\0';
	if (strlen(key) < sizeof(walk->key))
		memcpy(walk->key, key, strlen(key) + 1);
	walk->wants_key = false;
	return 0;
}

/* The string that begins at walk->at; the walk goes on behind it. Returns its size with quotes. */
static size_t take_string(struct walk *walk)
{
	const char *start = walk->at++;

	while (walk->at < walk->end && *walk->at != '"')
		walk->at += *walk->at == '\\' ? 2 : 1;
	walk->at++;
	return (size_t)(walk->at - start);
}

/* Returns 1 and the next library_path's token; 0: there is none any more; -ELOOP: it is nested too
 * deeply; or -ENOMEM. */
static int walk_next(struct walk *walk, const char **ret_token, size_t *ret_size)
{
	while (walk->at < walk->end) {
		const char *token = walk->at;
		size_t size;

		switch (*token) {
		case '{':
		case '[':
			if (walk->depth == NESTING_MAX)
				return -ELOOP;
			walk->frames[walk->depth].role = role_of(walk, *token == '{');
			walk->frames[walk->depth++].object = *token == '{';
			walk->wants_key = *token == '{';
			break;
		case '}':
		case ']':
			walk->depth--;
			break;
		case ',':
			walk->wants_key = walk->frames[walk->depth - 1].object;
			break;
		case '"':
			size = take_string(walk);
			if (walk->wants_key) {
				if (take_key(walk, token, size) < 0)
					return -ENOMEM;
			} else if (walk->frames[walk->depth - 1].role == ROLE_LIBRARY &&
				   strcmp(walk->key, "library_path") == 0) {
				*ret_token = token;
				*ret_size = size;
				return 1;
			}
			continue;
		default:
			break;
		}
		walk->at++;
	}
	return 0;
}

static const char *json_problem(const char *text, size_t size)
{
	size_t skipped = manifest_bom(text, size);
	_cleanup_(jsonhelp_decrefp) json_t *json =
		json_loadb(text + skipped, size - skipped, 0, NULL);
	struct walk walk = { .at = text + skipped, .end = text + size };
	const char *token;
	size_t length;
	int r;

	if (!json)
		return "it is no valid JSON";
	if (!json_is_object(json))
		return "its JSON is no object";
	do
		r = walk_next(&walk, &token, &length);
	while (r == 1);
	return r == -ELOOP ? "its JSON is nested too deeply" : NULL;
}

const char *manifest_icd_name(const char *text, size_t size, size_t *ret_size)
{
	const char *end = memchr(text, '\n', size);
	const char *start = text;

	if (!end)
		end = text + size;
	while (start < end && (*start == ' ' || *start == '\t'))
		start++;
	while (end > start && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
		end--;
	*ret_size = (size_t)(end - start);
	return start;
}

const char *manifest_problem(enum manifest_kind kind, const char *text, size_t size)
{
	size_t length;

	if (!text || size > MANIFEST_MAX)
		return "it is larger than 64 KiB, too large for a file that names a library";
	if (kind != MANIFEST_ICD)
		return json_problem(text, size);
	if (memchr(text, '\0', size))
		return "it is no text";
	manifest_icd_name(text, size, &length);
	return length > 0 ? NULL : "its first line names no library";
}

/* ---- changing one ---- */

struct bytes {
	char *data;
	size_t size;
	size_t capacity;
};

static int put(struct bytes *bytes, const char *data, size_t size)
{
	if (size == 0)
		return 0;
	if (bytes->capacity - bytes->size < size) {
		size_t capacity = (bytes->size + size) * 2;
		char *grown = realloc(bytes->data, capacity);

		if (!grown)
			return -ENOMEM;
		bytes->data = grown;
		bytes->capacity = capacity;
	}
	memcpy(bytes->data + bytes->size, data, size);
	bytes->size += size;
	return 0;
}

static bool is_in_store(const char *path)
{
	return string_has_prefix(path, "/nix/store/");
}

static bool is_same_directory(const char *path, const char *other)
{
	size_t length = (size_t)(path_base(path) - path);

	return (size_t)(path_base(other) - other) == length && strncmp(path, other, length) == 0;
}

#define LIB "../../../lib/" /* each such manifest is three directories deep */

/* A path that leads from the manifest to a served library as it is, also below lib/. */
static bool is_right(const struct manifest_place *place, const char *named)
{
	return manifest_kind(place->path) == MANIFEST_RELATIVE && string_has_prefix(named, LIB) &&
	       place->find(place->context, named + strlen(LIB));
}

/* Where the named library is in the mount. *ret_path is NULL where the name stays: a path into a
 * Nix store works as it is, and is changed only where it means the served file. */
static int new_path(const struct manifest_place *place, const char *named, char **ret_path,
	struct string_list *outside)
{
	enum manifest_kind kind = manifest_kind(place->path);
	const char *name = path_base(named);
	const struct source *source = *name ? place->find(place->context, name) : NULL;
	char *path;

	*ret_path = NULL;
	if (is_right(place, named))
		return 0;
	if (is_in_store(named) && (!source || !is_same_directory(named, source->path)))
		return 0;
	if (!source)
		return string_list_has(outside, named) ? 0 : string_list_add(outside, named);
	if (kind == MANIFEST_RELATIVE) {
		path = string_format(LIB "%s", name);
	} else if (place->mountpoint) {
		path = string_format("%s/lib/%s", place->mountpoint, name);
	} else {
		return 0;
	}
	if (!path)
		return -ENOMEM;
	*ret_path = path;
	return 0;
}

/* Puts the token that stands for the named library. *ret_changed: it is another one. */
static int put_token(const struct manifest_place *place, const char *token, size_t size,
	struct bytes *bytes, bool *ret_changed, struct string_list *outside)
{
	bool json = manifest_kind(place->path) != MANIFEST_ICD;
	_cleanup_(freep) char *named = json ? decode(token, size) : strndup(token, size);
	_cleanup_(freep) char *path = NULL, *text = NULL;
	_cleanup_(jsonhelp_decrefp) json_t *value = NULL;

	if (!named || new_path(place, named, &path, outside) < 0)
		return -ENOMEM;
	if (!path || strcmp(path, named) == 0)
		return put(bytes, token, size);
	*ret_changed = true;
	if (!json)
		return put(bytes, path, strlen(path));
	value = jsonhelp_text(path);
	text = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
	return text ? put(bytes, text, strlen(text)) : -ENOMEM;
}

static int edit_json(const struct manifest_place *place, const char *text, size_t size,
	struct bytes *bytes, bool *ret_changed, struct string_list *outside)
{
	struct walk walk = { .at = text + manifest_bom(text, size), .end = text + size };
	const char *done = text, *token;
	size_t length;
	int r;

	while ((r = walk_next(&walk, &token, &length)) == 1) {
		r = put(bytes, done, (size_t)(token - done));
		if (r == 0)
			r = put_token(place, token, length, bytes, ret_changed, outside);
		if (r < 0)
			return r;
		done = token + length;
	}
	return r < 0 ? -ENOMEM : put(bytes, done, (size_t)(text + size - done));
}

int manifest_edit(const struct manifest_place *place, const char *text, size_t size,
	char **ret_text, size_t *ret_size, struct string_list *outside)
{
	struct bytes bytes = { 0 };
	bool changed = false;
	int r;

	if (manifest_kind(place->path) == MANIFEST_ICD) {
		size_t length;
		const char *token = manifest_icd_name(text, size, &length);

		r = put(&bytes, text, (size_t)(token - text));
		if (r == 0)
			r = put_token(place, token, length, &bytes, &changed, outside);
		if (r == 0)
			r = put(&bytes, token + length, (size_t)(text + size - token) - length);
	} else {
		r = edit_json(place, text, size, &bytes, &changed, outside);
	}
	if (r < 0 || !changed) {
		free(bytes.data);
		return r;
	}
	*ret_text = bytes.data;
	*ret_size = bytes.size;
	return 1;
}
