/* SPDX-License-Identifier: MIT */
/* util: small helpers for memory, arrays and strings that every module shares. No I/O. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* Runs f(&variable) when the variable leaves its scope. */
#define _cleanup_(f)          __attribute__((cleanup(f)))
#define _printf_(text, first) __attribute__((format(printf, text, first)))

/* Moves a pointer out of a variable that a cleanup would free. */
#define steal_pointer(variable)                                                                    \
	({                                                                                         \
		__typeof__(variable) stolen_ = (variable);                                         \
		(variable) = NULL;                                                                 \
		stolen_;                                                                           \
	})

/* For _cleanup_: free(*p), close(*fd) where fd >= 0. errno is kept. */
void freep(void *p);
void closep(int *fd);
/* Returns *fd and sets it to -1. */
int steal_fd(int *fd);

/* Makes room for one more item: *items has *capacity items of `size` bytes, `count` in use.
 * Returns 0, or -ENOMEM with nothing changed. */
int array_grow(void *items, size_t *capacity, size_t count, size_t size);

/* A growing list of owned strings. Zero-initialised is empty. */
struct string_list {
	char **items;
	size_t count;
	size_t capacity;
};

/* Appends a copy of text. Returns 0 or -ENOMEM. */
int string_list_add(struct string_list *list, const char *text);
bool string_list_has(const struct string_list *list, const char *text);
/* Frees the items; the list is empty afterwards. */
void string_list_clear(struct string_list *list);

/* asprintf that returns the string (owned by the caller) or NULL without memory. */
char *string_format(const char *format, ...) _printf_(1, 2);
bool string_has_prefix(const char *text, const char *prefix);
bool string_has_suffix(const char *text, const char *suffix);
/* strcmp() == 0 for strings that may be NULL; two NULLs are equal. */
bool string_equal(const char *a, const char *b);
/* The part of path behind its last '/'; path itself where it has none. */
const char *path_base(const char *path);

/* FNV-1a, 64 bits, of size bytes, continued from `state` (FNV_START at first). */
#define FNV_START UINT64_C(0xcbf29ce484222325)
uint64_t fnv1a(uint64_t state, const void *data, size_t size);
