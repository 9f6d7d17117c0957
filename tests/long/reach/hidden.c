/* SPDX-License-Identifier: MIT */
/* hidden: lies where only an injected RUNPATH leads to. */
int hidden(void);

int hidden(void)
{
	return 42;
}
