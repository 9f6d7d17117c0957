/* SPDX-License-Identifier: MIT */
/* crash: notes in the resume state that the worker crashes by itself, and in whose request, while
 * it does: a request that crashes each worker is known by that, and a kill from outside is told
 * from a crash (DESIGN 6). Edge. */
#pragma once

#include <signal.h>

#include "state.h"

/* Handlers for SIGSEGV, SIGBUS, SIGABRT … that note and then let the signal have its way. NULL: no
 * more notes. */
void crash_watch(struct state *state);
/* Takes the watched signals out of a set that a thread blocks: a fault that is blocked ends the
 * process without a note. */
void crash_unblock(sigset_t *signals);
/* Gives this thread a stack for the handler: CRASH_STACK bytes of the caller's; NULL takes it away
 * again, before the thread ends. */
#define CRASH_STACK (64 * 1024)
void crash_thread(void *stack);
/* What counts the crashes of what this thread does from now on, in the shared memory; NULL:
 * nothing. A crash in a thread without is a reload's while there is one. */
void crash_enter(atomic_uint *count);
