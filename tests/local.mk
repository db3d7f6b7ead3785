# SPDX-License-Identifier: MIT
EXTRA_DIST += tests/check_assay.h

tests_cppflags = $(AM_CPPFLAGS) \
	-DASSAY_TOP_SRCDIR='"$(abs_top_srcdir)"' \
	-DASSAY_MODULE_DIR='"$(abs_top_builddir)/kernels/.libs"'
tests_ref = ref/libref.la $(CHECK_LIBS)
tests_golden = golden/libgolden.la ref/libref.la $(CHECK_LIBS)
tests_cflags = $(AM_CFLAGS) $(CHECK_CFLAGS) $(OPENMP_CFLAGS)

include tests/format.mk
include tests/ref.mk
include tests/golden.mk
include tests/validate.mk
include tests/fuzz.mk

check_programs_kernels = tests/check_kernels tests/check_kernel_elements
tests_check_kernels_SOURCES = tests/check_kernels.c tests/check_assay.c
tests_check_kernels_CPPFLAGS = $(tests_cppflags)
tests_check_kernels_CFLAGS = $(tests_cflags)
tests_check_kernels_LDADD = $(CHECK_LIBS) -lm -ldl -lpthread
tests_check_kernel_elements_SOURCES = tests/check_kernel_elements.c \
	tests/check_assay.c
tests_check_kernel_elements_CPPFLAGS = $(tests_cppflags)
tests_check_kernel_elements_CFLAGS = $(tests_cflags)
tests_check_kernel_elements_LDADD = $(CHECK_LIBS) -lm

check_PROGRAMS += tests/load_module
tests_load_module_SOURCES = tests/load_module.c
tests_load_module_LDADD = -ldl

if HAVE_CHECK
check_PROGRAMS += $(check_programs_format) $(check_programs_ref) \
	$(check_programs_golden) \
	$(check_programs_validate) $(check_programs_kernels)
TESTS += $(check_programs_format) $(check_programs_ref) \
	$(check_programs_golden) \
	$(check_programs_validate) $(check_programs_kernels)
endif
TESTS += tests/module.test
EXTRA_DIST += tests/module.test

# Not a test: figures for people.
EXTRA_PROGRAMS += tests/bench_ref tests/bench_formats tests/bench_formats_v3 \
	tests/bench_formats_v1
tests_bench_ref_SOURCES = tests/bench_ref.c
tests_bench_ref_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS) $(OPENBLAS_CFLAGS)
tests_bench_ref_LDADD = ref/libref.la
tests_bench_formats_SOURCES = tests/bench_formats.c
tests_bench_formats_LDADD = ref/libref.la
# The same code for one set of registers: what a machine without the wider
# ones runs.
bench_formats_sources = tests/bench_formats.c ref/block.c ref/error.c \
	ref/format.c ref/format_array.c ref/memory.c ref/scale_rule.c
bench_formats_cflags = $(AM_CFLAGS) -fno-trapping-math -DASSAY_CLONES=
tests_bench_formats_v3_SOURCES = $(bench_formats_sources)
tests_bench_formats_v3_CFLAGS = $(bench_formats_cflags) -march=x86-64-v3 \
	-DBENCH_CODE='"AVX2"'
tests_bench_formats_v3_LDADD = -lm
tests_bench_formats_v1_SOURCES = $(bench_formats_sources)
tests_bench_formats_v1_CFLAGS = $(bench_formats_cflags) -march=x86-64 \
	-DBENCH_CODE='"plain x86-64"'
tests_bench_formats_v1_LDADD = -lm
CLEANFILES += $(EXTRA_PROGRAMS)
bench: $(EXTRA_PROGRAMS) assay
	./assay bench
	tests/bench_formats
	tests/bench_formats_v3
	tests/bench_formats_v1
	tests/bench_ref
	tests/bench_ref 75600 2
.PHONY: bench
