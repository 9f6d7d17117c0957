/* SPDX-License-Identifier: MIT */
/* needed: NEEDs the hidden library. */
int hidden(void);
int answer(void);

int answer(void)
{
	return hidden();
}
