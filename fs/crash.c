/* SPDX-License-Identifier: MIT */
#include "crash.h"

#include <stddef.h>
#include <unistd.h>

#include "util.h"

static const int signals[] = { SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGSYS, SIGTRAP };

/* What a signal handler can reach. */
static struct state_memory *watched;
static struct sigaction before[ARRAY_SIZE(signals)];
static __thread atomic_uint *current;

static void on_crash(int number, siginfo_t *info, void *context)
{
	atomic_uint *count = current;

	(void)context;
	/* A signal that somebody sent is no crash; abort(3) sends one to itself. */
	if (watched && (info->si_code > 0 || info->si_pid == getpid())) {
		atomic_store(&watched->crashed, 1);
		if (!count && atomic_load(&watched->reloading))
			count = &watched->reload_crashes; /* in one of its threads */
		if (count)
			atomic_fetch_add(count, 1);
	}
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		if (signals[i] == number)
			sigaction(number, &before[i], NULL);
	/* A fault happens again on return; what was sent is sent again. */
	if (info->si_code <= 0)
		raise(number);
}

void crash_watch(struct state *state)
{
	struct sigaction action = {
		.sa_sigaction = on_crash,
		.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER,
	};

	if (watched || !state) {
		watched = state ? state->memory : NULL;
		return;
	}
	watched = state->memory;
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		sigaction(signals[i], &action, &before[i]);
}

void crash_unblock(sigset_t *set)
{
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		sigdelset(set, signals[i]);
}

void crash_thread(void *stack)
{
	static __thread stack_t earlier = { .ss_flags = SS_DISABLE };
	stack_t own = { .ss_sp = stack, .ss_size = CRASH_STACK };

	(void)(stack ? sigaltstack(&own, &earlier) : sigaltstack(&earlier, NULL));
}

void crash_enter(atomic_uint *count)
{
	current = count;
}
