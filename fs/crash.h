/* SPDX-License-Identifier: MIT */
/* crash: notes in the resume state that the worker crashes by itself, and in whose request, while
 * it does: a request that crashes each worker is known by that, and a kill from outside is told
 * from a crash (DESIGN 6). Edge. */
#pragma once

#include "state.h"

/* Handlers for SIGSEGV, SIGBUS, SIGABRT … that note and then let the signal have its way. NULL: no
 * more notes. */
void crash_watch(struct state *state);
/* The request that this thread works at; NULL: none. Also gives the thread a stack for the handler
 * when `stack` (owned by the caller, CRASH_STACK bytes) is given for the first time. */
#define CRASH_STACK (16 * 1024)
void crash_thread(void *stack);
void crash_enter(struct state_slot *slot);
