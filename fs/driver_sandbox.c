/* SPDX-License-Identifier: MIT */
#include "driver_sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util.h"

#if defined(__x86_64__)
#define SANDBOX_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define SANDBOX_ARCH AUDIT_ARCH_AARCH64
#elif defined(__i386__)
#define SANDBOX_ARCH AUDIT_ARCH_I386
#elif defined(__arm__)
#define SANDBOX_ARCH AUDIT_ARCH_ARM
#else
#error "the audit architecture of this machine is not known"
#endif

/* What opening a file for anything but reading has set. */
#define WRITING (O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND)
#define ALL     UINT32_MAX

struct rule {
	uint32_t number;
	/* Allowed where (the argument's low 32 bits & mask) == value; mask 0: always. */
	uint32_t argument;
	uint32_t mask;
	uint32_t value; /* OWN_PID: this process */
};
#define OWN_PID UINT32_MAX

static const struct rule rules[] = {
	{ SYS_openat, 2, WRITING, 0 },
	{ SYS_fcntl, 1, ~UINT32_C(3), 0 }, /* F_DUPFD, F_GETFD, F_SETFD, F_GETFL */
	{ SYS_prlimit64, 0, ALL, 0 },
	/* abort() */
	{ SYS_tgkill, 0, ALL, OWN_PID },
	{ SYS_kill, 0, ALL, OWN_PID },
	{ SYS_read },
	{ SYS_readv },
	{ SYS_pread64 },
	{ SYS_write },
	{ SYS_close },
	{ SYS_fstat },
	{ SYS_lseek },
	{ SYS_readlinkat },
	{ SYS_faccessat },
	{ SYS_getdents64 },
	{ SYS_getcwd },
	{ SYS_munmap },
	{ SYS_mprotect },
	{ SYS_mremap },
	{ SYS_madvise },
	{ SYS_brk },
	{ SYS_futex },
	{ SYS_rt_sigaction },
	{ SYS_rt_sigprocmask },
	{ SYS_rt_sigreturn },
	{ SYS_sigaltstack },
	{ SYS_set_robust_list },
	{ SYS_getpid },
	{ SYS_gettid },
	{ SYS_getppid },
	{ SYS_getuid },
	{ SYS_geteuid },
	{ SYS_getgid },
	{ SYS_getegid },
	{ SYS_uname },
	{ SYS_sysinfo },
	{ SYS_clock_gettime },
	{ SYS_clock_getres },
	{ SYS_gettimeofday },
	{ SYS_nanosleep },
	{ SYS_clock_nanosleep },
	{ SYS_sched_yield },
	{ SYS_sched_getaffinity },
	{ SYS_getrandom },
	{ SYS_pipe2 },
	{ SYS_eventfd2 },
	{ SYS_exit },
	{ SYS_exit_group },
#ifdef SYS_restart_syscall
	{ SYS_restart_syscall },
#endif
#ifdef SYS_mmap
	{ SYS_mmap },
#endif
#ifdef SYS_open
	{ SYS_open, 1, WRITING, 0 },
	{ SYS_stat },
	{ SYS_lstat },
	{ SYS_access },
	{ SYS_readlink },
#endif
#ifdef SYS_newfstatat
	{ SYS_newfstatat },
#endif
#ifdef SYS_statx
	{ SYS_statx },
#endif
#ifdef SYS_arch_prctl
	{ SYS_arch_prctl },
#endif
#ifdef SYS_time
	{ SYS_time },
#endif
/* the 32-bit machines' own */
#ifdef SYS_mmap2
	{ SYS_mmap2 },
	{ SYS__llseek },
	{ SYS_stat64 },
	{ SYS_lstat64 },
	{ SYS_fstat64 },
	{ SYS_fstatat64 },
	{ SYS_fcntl64, 1, ~UINT32_C(3), 0 },
	{ SYS_getuid32 },
	{ SYS_geteuid32 },
	{ SYS_getgid32 },
	{ SYS_getegid32 },
	{ SYS_ugetrlimit },
#endif
#ifdef SYS_clock_gettime64
	{ SYS_clock_gettime64 },
	{ SYS_clock_nanosleep_time64 },
	{ SYS_futex_time64 },
#endif
};

#define LOAD(offset)             BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(offset))
#define IF_EQUAL(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), (yes), (no))
#define RETURN(action)           BPF_STMT(BPF_RET | BPF_K, (action))
#define DENY                     (SECCOMP_RET_ERRNO | EPERM)

static uint32_t low_word(uint32_t argument)
{
	uint32_t offset = (uint32_t)offsetof(struct seccomp_data, args) + argument * 8;

	return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? offset + 4 : offset;
}

int driver_sandbox_enter(void)
{
	struct sock_filter filter[5 + 6 * ARRAY_SIZE(rules)];
	struct sock_fprog program = { .filter = filter };
	size_t n = 0;

	filter[n++] = (struct sock_filter)LOAD(offsetof(struct seccomp_data, arch));
	filter[n++] = (struct sock_filter)IF_EQUAL(SANDBOX_ARCH, 1, 0);
	filter[n++] = (struct sock_filter)RETURN(DENY);
	filter[n++] = (struct sock_filter)LOAD(offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		const struct rule *rule = &rules[i];
		uint32_t value = rule->value == OWN_PID ? (uint32_t)getpid() : rule->value;

		if (!rule->mask) {
			filter[n++] = (struct sock_filter)IF_EQUAL(rule->number, 0, 1);
			filter[n++] = (struct sock_filter)RETURN(SECCOMP_RET_ALLOW);
			continue;
		}
		filter[n++] = (struct sock_filter)IF_EQUAL(rule->number, 0, 5);
		filter[n++] = (struct sock_filter)LOAD(low_word(rule->argument));
		filter[n++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, rule->mask);
		filter[n++] = (struct sock_filter)IF_EQUAL(value, 0, 1);
		filter[n++] = (struct sock_filter)RETURN(SECCOMP_RET_ALLOW);
		filter[n++] = (struct sock_filter)RETURN(DENY);
	}
	filter[n++] = (struct sock_filter)RETURN(DENY);
	program.len = (unsigned short)n;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0 ? -errno : 0;
}
