/* SPDX-License-Identifier: MIT */
/* machine: the files of real machines (FACTS.md 4), and what could stand there instead. */
#include "../compat/cmocka.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"

typedef int parse_function(const char *text, size_t size, char *value);

struct sample {
	const char *text;
	size_t size;
	const char *value; /* NULL: -ENOENT */
};

#define TEXT(text) text, sizeof(text) - 1

/* In a block of its own size, without a NUL behind it: ASan sees a read behind it. */
static void check(parse_function *parse, const struct sample *samples, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct sample *sample = &samples[i];
		_cleanup_(freep) char *copy = malloc(sample->size ? sample->size : 1);
		char value[256] = "untouched";
		int r;

		assert_non_null(copy);
		memcpy(copy, sample->text, sample->size);
		r = parse(copy, sample->size, value);
		print_message("%s\n", sample->text);
		assert_int_equal(r, sample->value ? 0 : -ENOENT);
		assert_string_equal(value, sample->value ? sample->value : "untouched");
	}
}

#define REST(gcid, board) ", GCID: " gcid ", BOARD: " board ", EABI: aarch64, DATE: "
#define R32_DATE          REST("30192233", "t210ref") "Wed Apr 20 21:34:48 UTC 2022\n"
#define R36_REST          REST("42132812", "generic") "Thu Sep 18 22:54:44 UTC 2025\n"
#define R36_MORE                                                                                   \
	"# KERNEL_VARIANT: oot\n"                                                                  \
	"TARGET_USERSPACE_LIB_DIR=nvidia\n"                                                        \
	"TARGET_USERSPACE_LIB_DIR_PATH=usr/lib/aarch64-linux-gnu/nvidia\n"                         \
	"INSTALL_TYPE=\n"

static void test_release(void **state)
{
	static const struct sample samples[] = {
		{ TEXT("# R32 (release), REVISION: 1.0, GCID: 14531094, BOARD: t186ref, EABI: "
		       "aarch64, DATE: Wed Mar 13 07:41:08 UTC 2019\n"),
			"32.1.0" },
		{ TEXT("# R32 (release), REVISION: 7.2" R32_DATE), "32.7.2" },
		{ TEXT("# R34 (release), REVISION: 1.1, GCID: 30414990, BOARD: t186ref, EABI: "
		       "aarch64, DATE: Tue May 17 04:20:55 UTC 2022\n"),
			"34.1.1" },
		{ TEXT("# R35 (release), REVISION: 4.1, GCID: 33958178, BOARD: t186ref, EABI: "
		       "aarch64, DATE: Tue Aug  1 19:57:35 UTC 2023\n"),
			"35.4.1" },
		{ TEXT("# R36 (release), REVISION: 4.7" R36_REST R36_MORE), "36.4.7" },
		{ TEXT("# R38 (release), REVISION: 2.0" R36_REST R36_MORE), "38.2.0" },
		{ TEXT("# R39 (release), REVISION: 2.0, GCID: 45755727, BOARD: generic, EABI: "
		       "aarch64, DATE: Mon Jun  1 09:28:48 PM UTC 2026\n"),
			"39.2.0" },
		/* one part; no line break; nothing behind it; a CR before the line break */
		{ TEXT("# R36 (release), REVISION: 5" R36_REST), "36.5" },
		{ TEXT("# R36 (release), REVISION: 4.7, GCID: 1"), "36.4.7" },
		{ TEXT("# R36 (release), REVISION: 4.7"), "36.4.7" },
		{ TEXT("# R36 (release), REVISION: 4.7\r\n# KERNEL_VARIANT: oot\r\n"), "36.4.7" },
		/* other lines before it, and others of its kind behind it: the first counts */
		{ TEXT("\n# KERNEL_VARIANT: oot\n# R36 (release), REVISION: 4.7" R36_REST),
			"36.4.7" },
		{ TEXT("# R36 (release), REVISION: 4.7\n# R35 (release), REVISION: 1.0\n"),
			"36.4.7" },
		{ TEXT("# R36 (release), REVISION: x\n# R35 (release), REVISION: 1.0\n"),
			"35.1.0" },
		{ TEXT("junk\0more\n# R36 (release), REVISION: 4.7" R36_REST), "36.4.7" },
		{ TEXT("  #R36  (release),REVISION:4.7,"), "36.4.7" },
		{ TEXT(""), NULL },
		{ TEXT("\n"), NULL },
		{ TEXT("#"), NULL },
		{ TEXT("# R"), NULL },
		{ TEXT("# R36"), NULL },
		{ TEXT("# R36 (release), REVISION:"), NULL },
		{ TEXT("# R36 (release), REVISION: ,"), NULL },
		{ TEXT("# R36 (release), REVISION: 4.7x, GCID: 1"), NULL },
		{ TEXT("# R36 (release), REVISION: 4..7, GCID: 1"), NULL },
		{ TEXT("# R36 (release), REVISION: 4.7\0, GCID: 1"), NULL },
		{ TEXT("# R36.4 (release), REVISION: 4.7"), NULL },
		{ TEXT("# R36 (beta), REVISION: 4.7"), NULL },
		{ TEXT("# Rxx (release), REVISION: 4.7"), NULL },
		{ TEXT("junk # R36 (release), REVISION: 4.7"), NULL },
		{ TEXT("# R36 (release), GCID: 4.7, REVISION: 4.7"), NULL },
		{ TEXT("# R36 (release), REVISION: 11111111111111111111111111111111"), NULL },
		{ TEXT("# R36 (release), REVISION: 1.2.3.4.5.6.7.8.9.10.11.12.13"), NULL },
	};

	(void)state;
	check(machine_parse_release, samples, ARRAY_SIZE(samples));
}

#define DIRECTORY "TARGET_USERSPACE_LIB_DIR_PATH="
#define TEN       "/234567890"
#define LONG_BUT_OK                                                                                \
	TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN

static void test_library_directory(void **state)
{
	static const struct sample samples[] = {
		{ TEXT("# R36 (release), REVISION: 4.7" R36_REST R36_MORE),
			"/usr/lib/aarch64-linux-gnu/nvidia" },
		{ TEXT(DIRECTORY "/usr/lib/aarch64-linux-gnu/nvidia/\r\n"),
			"/usr/lib/aarch64-linux-gnu/nvidia" },
		{ TEXT(DIRECTORY "//usr/lib"), "/usr/lib" },
		{ TEXT(DIRECTORY "usr/..lib/a..b/..."), "/usr/..lib/a..b/..." },
		{ TEXT(DIRECTORY LONG_BUT_OK), LONG_BUT_OK },
		{ TEXT("# R36 (release), REVISION: 4.7" R36_REST), NULL },
		{ TEXT("TARGET_USERSPACE_LIB_DIR=nvidia\n"), NULL },
		{ TEXT("# " DIRECTORY "usr/lib"), NULL },
		{ TEXT(DIRECTORY), NULL },
		{ TEXT(DIRECTORY "\nusr/lib"), NULL },
		{ TEXT(DIRECTORY "/"), NULL },
		{ TEXT(DIRECTORY "../lib"), NULL },
		{ TEXT(DIRECTORY "/usr/../lib"), NULL },
		{ TEXT(DIRECTORY "usr/lib/.."), NULL },
		{ TEXT(DIRECTORY "usr/\0lib"), NULL },
		{ TEXT(DIRECTORY "usr/my lib"), NULL },
		{ TEXT(DIRECTORY LONG_BUT_OK TEN TEN TEN TEN TEN), NULL },
	};

	(void)state;
	check(machine_parse_library_directory, samples, ARRAY_SIZE(samples));
}

static void test_compatible(void **state)
{
	static const struct sample samples[] = {
		{ TEXT("nvidia,p3737-0000+p3701-0000\0nvidia,tegra234\0nvidia,tegra23x\0"),
			"tegra234" },
		{ TEXT("nvidia,p3449-0000-b00+p3448-0000-b00\0nvidia,jetson-nano\0nvidia,"
		       "tegra210\0"),
			"tegra210" },
		{ TEXT("nvidia,p3668\0nvidia,tegra194\0"), "tegra194" },
		{ TEXT("nvidia,tegra264\0nvidia,tegra234\0"), "tegra264" },
		{ TEXT("nvidia,tegra186"), "tegra186" },
		{ TEXT("\0\0nvidia,tegra186\0"), "tegra186" },
		{ TEXT("nvidia,tegra2340\0nvidia,tegra194"), "tegra194" },
		{ TEXT("nvidia,tegra2340\0"), NULL },
		{ TEXT("nvidia,tegra23x\0"), NULL },
		{ TEXT("nvidia,tegra23\0"), NULL },
		{ TEXT("nvidia,tegra\0"), NULL },
		{ TEXT("tegra234\0"), NULL },
		{ TEXT("Nvidia,Tegra234\0"), NULL },
		{ TEXT(" nvidia,tegra234\0"), NULL },
		{ TEXT("nvidia,tegra234 \0"), NULL },
		{ TEXT("nvidia,tegra234\n"), NULL },
		{ TEXT("xnvidia,tegra234\0"), NULL },
		{ TEXT("raspberrypi,4-model-b\0brcm,bcm2711\0"), NULL },
		{ TEXT("\0"), NULL },
		{ TEXT(""), NULL },
	};

	(void)state;
	check(machine_parse_compatible, samples, ARRAY_SIZE(samples));
}

#define INSTALLED       "Status: install ok installed\n"
#define CORE            "Package: nvidia-l4t-core\n"
#define VERSION(number) "Version: " number "-20250918154033\n"

static void test_dpkg(void **state)
{
	static const struct sample samples[] = {
		{ TEXT("Package: bash\n" INSTALLED "Version: 5.1-6\n\n" CORE INSTALLED
		       "Priority: standard\nMaintainer: NVIDIA Corporation\nArchitecture: "
		       "arm64\n" VERSION(
			       "36.4.7") "Description: core\n Version: 1.2-3\n .\n Package: x\n\n"
					 "Package: zlib1g\n" INSTALLED "Version: 1:1.2.13-1\n"),
			"36.4.7" },
		{ TEXT(CORE INSTALLED VERSION("32.7.2")), "32.7.2" },
		{ TEXT(CORE INSTALLED "Version: 35.4.1-20230801124926"), "35.4.1" },
		{ TEXT(VERSION("36.5") INSTALLED CORE), "36.5" },
		{ TEXT(CORE INSTALLED "Version: 36.4.7\n"), "36.4.7" },
		{ TEXT("Package: nvidia-l4t-core\r\nStatus: install ok installed\r\n"
		       "Version: 36.4.7-1\r\n\r\n"),
			"36.4.7" },
		{ TEXT("package: nvidia-l4t-core\nSTATUS:hold ok installed\nversion:36.4.7-1\n"),
			"36.4.7" },
		{ TEXT(CORE "Status: install ok triggers-awaited\n" VERSION("36.4.7")), "36.4.7" },
		/* to be removed, but not yet */
		{ TEXT(CORE "Status: deinstall ok installed\n" VERSION("36.4.7")), "36.4.7" },
		/* one of two architectures */
		{ TEXT(CORE "Status: deinstall ok config-files\n" VERSION(
			  "35.4.1") "\n" CORE INSTALLED VERSION("36.4.7")),
			"36.4.7" },
		{ TEXT(CORE "Status: deinstall ok config-files\n" VERSION("36.4.7")), NULL },
		{ TEXT(CORE "Status: purge ok not-installed\n" VERSION("36.4.7")), NULL },
		{ TEXT(CORE "Status: install reinstreq half-installed\n" VERSION("36.4.7")), NULL },
		{ TEXT(CORE "Status: installed ok unpacked\n" VERSION("36.4.7")), NULL },
		{ TEXT("Package: nvidia-l4t-core-dev\n" INSTALLED VERSION("36.4.7")), NULL },
		{ TEXT("Package: nvidia-l4t-cor\n" INSTALLED VERSION("36.4.7")), NULL },
		{ TEXT("Package: xnvidia-l4t-core\n" INSTALLED VERSION("36.4.7")), NULL },
		{ TEXT("Package: nvidia-l4t-cuda\n" INSTALLED VERSION("36.4.7")), NULL },
		{ TEXT(CORE INSTALLED "\n" VERSION("36.4.7")), NULL },
		{ TEXT(CORE VERSION("36.4.7")), NULL },
		{ TEXT(CORE INSTALLED), NULL },
		{ TEXT(CORE INSTALLED "Version: 36-1\n"), NULL },
		{ TEXT(CORE INSTALLED "Version: 36.4~rc1-1\n"), NULL },
		{ TEXT(CORE INSTALLED "Version: \n"), NULL },
		{ TEXT(""), NULL },
		{ TEXT("\n\n\n"), NULL },
		{ TEXT("Package"), NULL },
	};

	(void)state;
	check(machine_parse_dpkg, samples, ARRAY_SIZE(samples));
}

#define GCC_LINE "GCC version:  gcc version 13.2.0 (Debian 13.2.0-4)\n"

static void test_kernel_driver(void **state)
{
	static const struct sample samples[] = {
		{ TEXT("NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.120  Fri Sep 13 "
		       "10:10:01 UTC "
		       "2024\n" GCC_LINE),
			"550.120" },
		{ TEXT("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.195.03  "
		       "Release Build  "
		       "(dvs-builder@U22)  Sat Sep 20 00:36:08 UTC 2025\n" GCC_LINE),
			"570.195.03" },
		{ TEXT("NVRM version: NVIDIA UNIX Kernel Module for aarch64  34.1.1  Release Build "
		       " "
		       "(buildbrain@mobile)  Mon May 16 2022\n"),
			"34.1.1" },
		{ TEXT("NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  540.4.0"),
			"540.4.0" },
		{ TEXT(GCC_LINE "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.120  Fri\n"),
			"550.120" },
		{ TEXT("550.163.01\n"), "550.163.01" },
		{ TEXT("550.163.01"), "550.163.01" },
		{ TEXT(GCC_LINE), NULL },
		{ TEXT("NVRM version: NVIDIA UNIX x86_64 Kernel Module\n" GCC_LINE), NULL },
		{ TEXT("NVRM version: x 1..2 .3 4. 5 2024\n"), NULL },
		{ TEXT("NVRM version: 1111111111111111.1111111111111111\n"), NULL },
		{ TEXT(""), NULL },
		{ TEXT("\n\n"), NULL },
		{ TEXT("NVRM version: NVIDIA UNIX aarch64 Kernel Module  35.4.1  Tue\r\n"),
			"35.4.1" },
		{ TEXT("550.54.15\r\n"), "550.54.15" },
		{ TEXT("junk\0 1.2\nNVRM version: NVIDIA UNIX x86_64 Kernel Module  550.120"),
			"550.120" },
		{ TEXT("junk NVRM version: x  550.120\n"), NULL },
		{ TEXT("550.120\0"), NULL },
		{ TEXT("550.120 and more\n"), NULL },
		{ TEXT("\n550.120\n"), NULL },
		{ TEXT("550\n"), NULL },
	};

	(void)state;
	check(machine_parse_kernel_driver, samples, ARRAY_SIZE(samples));
}

static void test_gpu(void **state)
{
	static const struct sample samples[] = {
		{ TEXT("Model: \t\t NVIDIA GeForce RTX 4090\nIRQ:   \t\t 186\nGPU UUID: \t "
		       "GPU-0\n"),
			"NVIDIA GeForce RTX 4090" },
		{ TEXT("IRQ: 1\nModel: NVIDIA H100 80GB HBM3\r\n"), "NVIDIA H100 80GB HBM3" },
		{ TEXT("Model: a\tb\0c\x7f\n"), "a?b?c?" },
		{ TEXT("Model: 123456789012345678901234567890123456789012345678901234567890123X\n"),
			"123456789012345678901234567890123456789012345678901234567890123" },
		{ TEXT("Model:"), NULL },
		{ TEXT("Model: \n"), NULL },
		{ TEXT("Mode: x\n"), NULL },
		{ TEXT("Sub Model: x\n"), NULL },
		{ TEXT(""), NULL },
	};

	(void)state;
	check(machine_parse_gpu, samples, ARRAY_SIZE(samples));
}

static void test_cuda_of_path(void **state)
{
	static const struct {
		const char *path;
		const char *cuda; /* NULL: -ENOENT */
	} cases[] = {
		{ "/usr/local/cuda-12.2/compat", "12.2" },
		{ "/usr/local/cuda-12.2/compat/", "12.2" },
		{ "/usr/local/cuda-13.2/compat_orin", "13.2" },
		{ "/usr/local/cuda-11.8", "11.8" },
		{ "/usr/local/cuda-12.2.1/compat", "12.2" },
		{ "/opt/cuda-12.9-backup/compat", "12.9" },
		{ "/nix/store/0p5mp2i3d4gq-cuda12.2-cuda_compat-12.2.34086590/compat", "12.2" },
		{ "/nix/store/0p5mp2i3d4gq-cuda_compat-12.6.36890662", "12.6" },
		{ "/nix/store/0p5mp2i3d4gq-cuda11.8-cuda-compat-11.8.1/compat", "11.8" },
		{ "/nix/store/0p5mp2i3d4gq-cuda12.2-cuda_compat-12.9.40580548/compat", "12.9" },
		{ "/nix/store/0p5mp2i3d4gq-cuda12.2-cuda_compat/compat", "12.2" },
		{ "/srv/cuda-11.8/host/cuda-12.2/compat", "12.2" },
		{ "/srv/cuda-12.2/compat/sub/cuda", "12.2" },
		{ "cuda-12.2", "12.2" },
		{ "/usr/local/cuda/compat", NULL },
		{ "/usr/local/cuda/compat_orin", NULL },
		{ "/usr/local/cuda-12/compat", NULL },
		{ "/usr/local/cuda-12./compat", NULL },
		{ "/usr/local/cuda-.2/compat", NULL },
		{ "/usr/local/cuda-12.2rc1/compat", NULL },
		{ "/usr/local/cuda-12/2/compat", NULL },
		{ "/usr/local/cuda-1234.5/compat", NULL },
		{ "/usr/local/mycuda-12.2/compat", NULL },
		{ "/usr/local/barracuda12.2/compat", NULL },
		{ "/nix/store/0p5mp2i3d4gq-cuda_cudart-12.2.140/lib", NULL },
		{ "/", NULL },
		{ "", NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char cuda[MACHINE_WORD] = "untouched";

		print_message("%s\n", cases[i].path);
		assert_int_equal(
			machine_cuda_of_path(cases[i].path, cuda), cases[i].cuda ? 0 : -ENOENT);
		assert_string_equal(cuda, cases[i].cuda ? cases[i].cuda : "untouched");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_release),
		cmocka_unit_test(test_library_directory),
		cmocka_unit_test(test_compatible),
		cmocka_unit_test(test_dpkg),
		cmocka_unit_test(test_kernel_driver),
		cmocka_unit_test(test_gpu),
		cmocka_unit_test(test_cuda_of_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
