/* SPDX-License-Identifier: MIT */
#include "namemap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util.h"

/* The slot of the name, or the free one where it belongs. The table is never full. */
static struct namemap_slot *find_slot(struct namemap_slot *slots, size_t capacity, const char *name)
{
	size_t at = fnv1a(FNV_START, name, strlen(name)) & (capacity - 1);

	while (slots[at].name && strcmp(slots[at].name, name) != 0)
		at = (at + 1) & (capacity - 1);
	return &slots[at];
}

static int grow(struct namemap *map)
{
	size_t capacity = map->capacity ? map->capacity * 2 : 16;
	struct namemap_slot *slots = calloc(capacity, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < map->capacity; i++) {
		if (map->slots[i].name)
			*find_slot(slots, capacity, map->slots[i].name) = map->slots[i];
	}
	free(map->slots);
	map->slots = slots;
	map->capacity = capacity;
	return 0;
}

int namemap_put(struct namemap *map, const char *name, size_t value)
{
	struct namemap_slot *slot;

	if (map->count * 4 >= map->capacity * 3 && grow(map) < 0)
		return -ENOMEM;
	slot = find_slot(map->slots, map->capacity, name);
	if (slot->name)
		return -EEXIST;
	slot->name = name;
	slot->value = value;
	map->count++;
	return 0;
}

bool namemap_get(const struct namemap *map, const char *name, size_t *ret_value)
{
	const struct namemap_slot *slot;

	if (map->count == 0)
		return false;
	slot = find_slot(map->slots, map->capacity, name);
	if (!slot->name)
		return false;
	if (ret_value)
		*ret_value = slot->value;
	return true;
}

void namemap_clear(struct namemap *map)
{
	free(map->slots);
	*map = (struct namemap){ 0 };
}
