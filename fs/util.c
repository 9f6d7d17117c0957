/* SPDX-License-Identifier: MIT */
#include "util.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void freep(void *p)
{
	free(*(void **)p);
}

void closep(int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		close(*fd);
	errno = saved;
}

int steal_fd(int *fd)
{
	int stolen = *fd;

	*fd = -1;
	return stolen;
}

int array_grow(void *items, size_t *capacity, size_t count, size_t size)
{
	void **array = items;
	size_t wanted;
	void *grown;

	if (count < *capacity)
		return 0;
	wanted = *capacity ? *capacity * 2 : 8;
	grown = reallocarray(*array, wanted, size);
	if (!grown)
		return -ENOMEM;
	*array = grown;
	*capacity = wanted;
	return 0;
}

int string_list_add(struct string_list *list, const char *text)
{
	char *copy;

	if (array_grow(&list->items, &list->capacity, list->count, sizeof(*list->items)) < 0)
		return -ENOMEM;
	copy = strdup(text);
	if (!copy)
		return -ENOMEM;
	list->items[list->count++] = copy;
	return 0;
}

bool string_list_has(const struct string_list *list, const char *text)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->items[i], text) == 0)
			return true;
	return false;
}

void string_list_clear(struct string_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i]);
	free(list->items);
	*list = (struct string_list){ 0 };
}

char *string_format(const char *format, ...)
{
	va_list arguments;
	char *text;
	int length;

	va_start(arguments, format);
	length = vasprintf(&text, format, arguments);
	va_end(arguments);
	return length < 0 ? NULL : text;
}

bool string_has_prefix(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool string_has_suffix(const char *text, const char *suffix)
{
	size_t length = strlen(text), tail = strlen(suffix);

	return length >= tail && memcmp(text + length - tail, suffix, tail) == 0;
}

bool string_equal(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

uint64_t fnv1a(uint64_t state, const void *data, size_t size)
{
	const unsigned char *bytes = data;

	for (size_t i = 0; i < size; i++)
		state = (state ^ bytes[i]) * UINT64_C(0x100000001b3);
	return state;
}
