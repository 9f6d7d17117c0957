/* SPDX-License-Identifier: MIT */
/* decide: what stands against what: the machine, the host's libcuda, the compat directories. */
#include "decide_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

const char *decide_set_path(const struct decide_set *set)
{
	return set->layer->sets[set->set].path;
}

static void find_machine(
	const struct tables *tables, const struct facts *facts, struct decide_machine *ret_machine)
{
	struct decide_machine machine = {
		.soc = facts->items[FACT_SOC].value,
		.l4t = facts->items[FACT_L4T].value,
		.kernel = facts->items[FACT_KERNEL_DRIVER].value,
		.gpu = facts->items[FACT_GPU].value,
		.stack = facts->items[FACT_GPU_STACK].value,
	};

	machine.tegra = machine.soc || machine.l4t;
	if (machine.l4t)
		machine.row = tables_l4t(tables, machine.l4t, machine.soc);
	machine.has_branches = !machine.tegra || string_equal(machine.stack, "openrm");
	*ret_machine = machine;
}

static bool tell_cuda(
	struct decide_cuda *cuda, enum decide_from from, const char *version, const char *where)
{
	size_t size = version ? strlen(version) : 0;

	if (size == 0 || size >= sizeof(cuda->version))
		return false;
	memcpy(cuda->version, version, size + 1);
	cuda->from = from;
	cuda->where = where;
	return true;
}

static bool tell_said(struct decide_cuda *cuda, const struct policy_value *said)
{
	if (!tell_cuda(cuda, FROM_POLICY, said->text, NULL))
		return false;
	cuda->said = said;
	return true;
}

static bool tell_probed(
	struct decide_cuda *cuda, const struct decide_input *input, const struct candidate *libcuda)
{
	for (size_t i = 0; libcuda && i < input->n_probes; i++) {
		if (input->probes[i].source != libcuda->source)
			continue;
		cuda->unasked = input->probes[i].why;
		return tell_cuda(
			cuda, FROM_PROBE, input->probes[i].cuda, libcuda->source->real_path);
	}
	return false;
}

static void find_host_cuda(const struct decide_input *input, struct decide_host *host)
{
	const struct decide_machine *machine = &host->machine;

	if (host->cuda.said || tell_probed(&host->cuda, input, host->libcuda))
		return;
	if (machine->row && tell_cuda(&host->cuda, FROM_L4T, machine->row->cuda, machine->l4t))
		return;
	if (host->driver)
		tell_cuda(&host->cuda, FROM_BRANCH,
			tables_cuda_of_driver(input->tables, host->driver), host->driver);
}

void decide_find_host(
	const struct decide_input *input, const struct facts *facts, struct decide_host *ret_host)
{
	struct decide_host host = { 0 };

	find_machine(input->tables, facts, &host.machine);
	for (size_t i = 0; i < input->n_layers; i++) {
		const struct layer *layer = input->layers[i];

		if (layer->policy->role == ROLE_COMPAT)
			continue;
		if (!host.libcuda) {
			host.libcuda = find_libcuda(layer, PICK_ALL_SETS, host.machine.kernel);
			host.layer = host.libcuda ? layer : NULL;
		}
		if (!host.cuda.said)
			tell_said(&host.cuda, &layer->policy->cuda);
	}
	host.file_driver = driver_of(host.libcuda);
	if (host.machine.has_branches)
		host.driver = version_is_driver(host.machine.kernel) ? host.machine.kernel
								     : host.file_driver;
	host.like_jetson = !host.machine.tegra && host.libcuda && !host.file_driver &&
			   !tables_cuda_of_driver(input->tables, host.driver);
	find_host_cuda(input, &host);
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

/* A directory of the path has exactly this name. */
static bool has_component(const char *path, const char *name)
{
	size_t size = strlen(name);

	for (const char *at = path; (at = strstr(at, name)) != NULL; at += size) {
		if (at > path && at[-1] == '/' && (at[size] == '/' || at[size] == '\0'))
			return true;
	}
	return false;
}

/* What tells it best goes first: the policy, the package itself, its name, its driver. */
static void find_set_cuda(const struct decide_input *input, struct decide_set *set)
{
	const char *paths[] = { decide_set_path(set), set->libcuda->source->path };
	char version[MACHINE_WORD];

	if (tell_said(&set->cuda, &set->layer->policy->cuda))
		return;
	if (set->note && tell_cuda(&set->cuda, FROM_NOTE, set->note->cuda, NULL))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		if (machine_cuda_of_path(paths[i], version) == 0 &&
			tell_cuda(&set->cuda, FROM_PATH, version, paths[i]))
			return;
	}
	if (set->driver && tell_cuda(&set->cuda, FROM_BRANCH,
				   tables_cuda_of_driver(input->tables, set->driver), set->driver))
		return;
	tell_probed(&set->cuda, input, set->libcuda);
}

static struct decide_set make_set(const struct decide_input *input, const struct layer *layer,
	uint32_t index, const struct candidate *libcuda)
{
	const struct compat_note *note = libcuda->source->note;
	struct decide_set set = { .layer = layer, .set = index, .libcuda = libcuda };

	set.n_files = count_files(layer, index);
	set.note = note && note->state == NOTE_PRESENT ? note : NULL;
	set.driver = driver_of(libcuda);
	set.orin = has_component(decide_set_path(&set), "compat_orin") ||
		   has_component(libcuda->source->path, "compat_orin");
	find_set_cuda(input, &set);
	return set;
}

int decide_find_sets(
	const struct decide_input *input, struct decide_set **ret_sets, size_t *ret_count)
{
	struct decide_set *sets = NULL;
	size_t capacity = 0;
	size_t count = 0;

	for (size_t i = 0; i < input->n_layers; i++) {
		const struct layer *layer = input->layers[i];

		if (layer->policy->role != ROLE_COMPAT)
			continue;
		for (uint32_t set = 0; set < layer->n_sets; set++) {
			const struct candidate *libcuda = find_libcuda(layer, set, NULL);

			if (!libcuda || !layer->sets[set].present)
				continue;
			if (array_grow(&sets, &capacity, count, sizeof(*sets)) < 0) {
				free(sets);
				return -ENOMEM;
			}
			sets[count] = make_set(input, layer, set, libcuda);
			sets[count].order = count;
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
	int order = version_compare(right->cuda.version, left->cuda.version);

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
