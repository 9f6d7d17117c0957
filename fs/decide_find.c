/* SPDX-License-Identifier: MIT */
#include "decide_internal.h"

#include <errno.h>
#include <stdlib.h>

#include "candidate.h"
#include "pick.h"
#include "soname.h"
#include "util.h"

static bool is_libcuda(const struct candidate *candidate)
{
	const char *key = candidate_key(candidate);

	return key && soname_same_stem(key, "libcuda.so");
}

/* The libcuda that would be shown of the layer's set, or NULL. */
static const struct candidate *find_libcuda(
	const struct layer *layer, uint32_t set, const char *kernel)
{
	const struct pick pick = pick_version(layer, set, kernel);
	const struct candidate *found = NULL;

	for (size_t i = 0; i < layer->n_candidates; i++) {
		const struct candidate *candidate = &layer->candidates[i];
		enum pick_reason reason;

		if (!is_libcuda(candidate) || (set != PICK_ALL_SETS && candidate->set != set))
			continue;
		if (found) {
			const struct candidate *const pair[] = { found, candidate };

			found = pick_candidate(&pick, "libcuda.so.1", pair, 2, &reason);
		} else {
			found = candidate;
		}
	}
	return found;
}

static const char *driver_of(const struct candidate *candidate)
{
	const char *version = candidate ? candidate_version(candidate) : NULL;

	return version_is_driver(version) ? version : NULL;
}

void decide_find_host(struct layer *const *layers, size_t n_layers, const struct facts *probed,
	struct decide_host *ret_host)
{
	const char *kernel = probed->items[FACT_KERNEL_DRIVER].value;
	struct decide_host host = { 0 };

	for (size_t i = 0; i < n_layers; i++) {
		const struct policy_layer *policy = layers[i]->policy;

		if (policy->role == ROLE_COMPAT)
			continue;
		if (!host.libcuda) {
			host.libcuda = find_libcuda(layers[i], PICK_ALL_SETS, kernel);
			host.layer = host.libcuda ? layers[i] : NULL;
			if (host.layer && policy->cuda.text)
				host.said = &policy->cuda;
		}
		if (!host.said && policy->cuda.text)
			host.said = &policy->cuda;
	}
	host.file_driver = driver_of(host.libcuda);
	host.driver = version_is_driver(kernel) ? kernel : host.file_driver;
	host.cuda = host.said ? host.said->text : facts_cuda_of_driver(host.driver);
	*ret_host = host;
}

/* NVIDIA's first rule counts libcuda.so.*.*: files; where all are links (a directory of links),
 * what they lead to. */
static size_t count_files(const struct layer *layer, uint32_t set)
{
	const struct candidate *linked = NULL;
	size_t files = 0;
	size_t links = 0;

	for (size_t i = 0; i < layer->n_candidates; i++) {
		const struct candidate *candidate = &layer->candidates[i];
		const char *name = candidate_library(candidate);

		if (candidate->set != set || !name || !soname_same_stem(name, "libcuda.so") ||
			version_parts(soname_version(name)) < 2)
			continue;
		if (!candidate->link) {
			files++;
		} else if (!linked || !candidate_is_same(linked, candidate)) {
			links++;
			linked = candidate;
		}
	}
	return files > 0 ? files : links;
}

int decide_find_sets(struct layer *const *layers, size_t n_layers, struct decide_set **ret_sets,
	size_t *ret_count)
{
	struct decide_set *sets = NULL;
	size_t capacity = 0;
	size_t count = 0;

	for (size_t i = 0; i < n_layers; i++) {
		const struct layer *layer = layers[i];

		if (layer->policy->role != ROLE_COMPAT)
			continue;
		for (uint32_t set = 0; set < layer->n_sets; set++) {
			const struct candidate *libcuda = find_libcuda(layer, set, NULL);
			struct decide_set *new;

			if (!libcuda || !layer->sets[set].present)
				continue;
			if (array_grow(&sets, &capacity, count, sizeof(*sets)) < 0) {
				free(sets);
				return -ENOMEM;
			}
			new = &sets[count];
			*new = (struct decide_set){
				.layer = layer, .set = set, .order = count, .libcuda = libcuda
			};
			new->n_files = count_files(layer, set);
			new->driver = driver_of(libcuda);
			if (layer->policy->cuda.text)
				new->said = &layer->policy->cuda;
			new->cuda = new->said ? new->said->text : facts_cuda_of_driver(new->driver);
			count++;
		}
	}
	*ret_sets = sets;
	*ret_count = count;
	return 0;
}

static int compare_sets(const void *a, const void *b)
{
	const struct decide_set *left = a;
	const struct decide_set *right = b;
	int order = version_compare(right->cuda, left->cuda);

	if (order == 0)
		order = version_compare(right->driver, left->driver);
	if (order == 0)
		order = left->order < right->order ? -1 : 1;
	return order;
}

void decide_rank_sets(struct decide_set *sets, size_t count)
{
	if (count > 1)
		qsort(sets, count, sizeof(*sets), compare_sets);
}

static int set_driver(
	struct facts *facts, enum fact_id id, const struct candidate *libcuda, const char *driver)
{
	if (!libcuda)
		return facts_set(facts, id, NULL, "no layer has a libcuda");
	if (!driver)
		return facts_set(facts, id, NULL, "the name of %s has no driver version",
			libcuda->source->real_path);
	return facts_set(facts, id, driver, "the name of %s", libcuda->source->real_path);
}

static int set_cuda(struct facts *facts, enum fact_id id, const char *cuda,
	const struct policy_value *said, const char *driver)
{
	if (said && said->file)
		return facts_set(facts, id, cuda, "%s:%u", said->file, said->line);
	if (said)
		return facts_set(facts, id, cuda, "the policy");
	if (!driver)
		return facts_set(facts, id, NULL, "neither a driver version nor cuda = tells it");
	if (!cuda)
		return facts_set(facts, id, NULL, "driver %s is of no known branch", driver);
	return facts_set(facts, id, cuda, "the branch of driver %s", driver);
}

int decide_set_facts(
	struct facts *facts, const struct decide_host *host, const struct decide_set *set)
{
	if (set_driver(facts, FACT_HOST_DRIVER, host->libcuda, host->file_driver) < 0 ||
		set_cuda(facts, FACT_HOST_CUDA, host->cuda, host->said, host->driver) < 0)
		return -ENOMEM;
	if (!set) {
		if (facts_set(facts, FACT_COMPAT_DRIVER, NULL, "no compat layer has a libcuda") < 0)
			return -ENOMEM;
		return facts_set(facts, FACT_COMPAT_CUDA, NULL, "no compat layer has a libcuda");
	}
	if (set_driver(facts, FACT_COMPAT_DRIVER, set->libcuda, set->driver) < 0)
		return -ENOMEM;
	return set_cuda(facts, FACT_COMPAT_CUDA, set->cuda, set->said, set->driver);
}
