/* SPDX-License-Identifier: MIT */
/* The policy where no file says otherwise: the well-known places of cuda_compat (FACTS.md 3: L4T's
 * and the servers', the highest version first), and the host's driver wherever it is. */
#include "policy_read.h"

const char policy_builtin_text[] = "[layer compat]\n"
				   "optional = yes\n"
				   /* Orin on JetPack 7.2 */
				   "dir = /usr/local/cuda/compat_orin\n"
				   "dir = /usr/local/cuda-13.2/compat\n"
				   "dir = /usr/local/cuda-13.1/compat\n"
				   "dir = /usr/local/cuda-13.0/compat\n"
				   "dir = /usr/local/cuda-12.9/compat\n"
				   "dir = /usr/local/cuda-12.8/compat\n"
				   "dir = /usr/local/cuda-12.6/compat\n"
				   "dir = /usr/local/cuda-12.5/compat\n"
				   "dir = /usr/local/cuda-12.4/compat\n"
				   "dir = /usr/local/cuda-12.3/compat\n"
				   "dir = /usr/local/cuda-12.2/compat\n"
				   "dir = /usr/local/cuda-12.1/compat\n"
				   "dir = /usr/local/cuda-12.0/compat\n"
				   "dir = /usr/local/cuda-11.8/compat\n"
				   "dir = /usr/local/cuda/compat\n"

				   "[layer host]\n"
				   "optional = yes\n"
				   "discover = auto\n"

				   "[profile compat-on]\n"
				   "compat.mode = on\n"
				   "[profile compat-off]\n"
				   "compat.mode = off\n";
