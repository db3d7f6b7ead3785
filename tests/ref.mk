# SPDX-License-Identifier: MIT
# Unit tests of ref/.
check_programs_ref = tests/check_attention tests/check_blas \
	tests/check_format tests/check_problem
EXTRA_DIST += tests/check_values.h

tests_check_attention_SOURCES = tests/check_attention.c tests/check_values.c \
	tests/check_assay.c
tests_check_attention_CPPFLAGS = $(tests_cppflags)
tests_check_attention_CFLAGS = $(tests_cflags)
tests_check_attention_LDADD = $(tests_ref) -lm

tests_check_blas_SOURCES = tests/check_blas.c tests/check_assay.c
tests_check_blas_CPPFLAGS = $(tests_cppflags)
tests_check_blas_CFLAGS = $(tests_cflags)
tests_check_blas_LDADD = $(tests_ref)

tests_check_format_SOURCES = tests/check_format.c tests/check_values.c \
	tests/check_assay.c
tests_check_format_CPPFLAGS = $(tests_cppflags)
tests_check_format_CFLAGS = $(tests_cflags)
tests_check_format_LDADD = $(tests_ref)

tests_check_problem_SOURCES = tests/check_problem.c tests/check_assay.c
tests_check_problem_CPPFLAGS = $(tests_cppflags)
tests_check_problem_CFLAGS = $(tests_cflags)
tests_check_problem_LDADD = $(tests_ref)
