/* SPDX-License-Identifier: MIT */
/* notify: the datagrams to a service manager (sd_notify(3)) and the descriptors that it keeps for
 * the service (its fd store). Edge. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Whether a service manager listens ($NOTIFY_SOCKET, as notify_open found it). */
bool notify_listens(void);
/* Takes $NOTIFY_SOCKET, $WATCHDOG_USEC, $FDSTORE, $LISTEN_FDS … out of the environment (children
 * must not have them) and remembers them. To be called before threads; again: does
 * nothing. */
void notify_open(void);
/* Puts $NOTIFY_SOCKET and $WATCHDOG_… back for the program that this process becomes. */
void notify_leave(void);
/* Sends "READY=1", "STATUS=…" etc., lines joined by '\n'. Returns 0 (also where nobody listens);
 * -EAGAIN: the manager has not read for 3 s; or -errno. Thread-safe. */
int notify_send(const char *text);
/* Whether a store of descriptors is known to be there ($FDSTORE, systemd 254 and later). */
bool notify_has_store(void);
/* Puts a descriptor into the store under a name ([a-z-]+), or removes it. Returns as
 * notify_send. */
int notify_store(const char *name, int fd);
int notify_unstore(const char *name);
/* The descriptor that the manager passed under that name at start ($LISTEN_FDNAMES), once, owned by
 * the caller and close-on-exec; -1: none. */
int notify_take(const char *name);
/* Closes those that nobody took. */
void notify_close_rest(void);
/* Half of $WATCHDOG_USEC in milliseconds when it is for this process ($WATCHDOG_PID), else 0. */
unsigned notify_watchdog_ms(void);
