/* SPDX-License-Identifier: MIT */
#include "daemon_internal.h"

#include <errno.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "notify.h"

void daemon_tell_status(const struct daemon *daemon)
{
	_cleanup_(generation_unrefp) struct generation *generation = tree_current(daemon->tree);
	_cleanup_(freep) char *text = NULL;

	if (!notify_listens())
		return;
	text = string_format("STATUS=generation %.8s, compat %s (%s)%s", generation->view->id,
		generation->decision.on ? "on" : "off", generation->decision.reason,
		daemon->reload_failed ? "; the last reload failed" : "");
	if (!text)
		return;
	/* What comes after a line's end would be an order to the manager; a reason may quote a
	 * file. */
	for (char *c = text; *c; c++)
		if ((unsigned char)*c < ' ')
			*c = ' ';
	(void)notify_send(text);
}

int daemon_arm_watchdog(struct daemon *daemon)
{
	unsigned ms = notify_watchdog_ms();
	struct timespec turn = { ms / 1000, (long)(ms % 1000) * 1000000 };
	struct itimerspec time = { .it_interval = turn, .it_value = turn };

	if (ms == 0)
		return 0;
	daemon->watchdog = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (daemon->watchdog < 0 || timerfd_settime(daemon->watchdog, 0, &time, NULL) < 0)
		return -errno;
	return 0;
}

void daemon_feed_watchdog(struct daemon *daemon)
{
	uint64_t turns;

	if (read(daemon->watchdog, &turns, sizeof(turns)) == sizeof(turns))
		(void)notify_send("WATCHDOG=1");
}
