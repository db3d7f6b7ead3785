# SPDX-License-Identifier: MIT
# Tests of the element formats, and of the tables in data/conformance.
check_programs_format = tests/check_decode tests/check_format \
	tests/check_format_cases tests/check_format_vectors \
	tests/check_rounding
EXTRA_DIST += tests/block_oracle.h tests/format_oracle.h

tests_check_decode_SOURCES = tests/check_decode.c \
	tests/check_values.c tests/check_assay.c
tests_check_decode_CPPFLAGS = $(tests_cppflags)
tests_check_decode_CFLAGS = $(tests_cflags)
tests_check_decode_LDADD = $(tests_ref) -lm

tests_check_format_SOURCES = tests/check_format.c \
	tests/format_oracle.c tests/check_values.c tests/check_assay.c
tests_check_format_CPPFLAGS = $(tests_cppflags)
tests_check_format_CFLAGS = $(tests_cflags)
tests_check_format_LDADD = $(tests_ref) -lm

tests_check_format_cases_SOURCES = tests/check_format_cases.c \
	tests/check_values.c tests/check_assay.c
tests_check_format_cases_CPPFLAGS = $(tests_cppflags)
tests_check_format_cases_CFLAGS = $(tests_cflags)
tests_check_format_cases_LDADD = $(tests_ref) -lm

tests_check_format_vectors_SOURCES = tests/check_format_vectors.c \
	tests/check_values.c tests/check_assay.c
tests_check_format_vectors_CPPFLAGS = $(tests_cppflags)
tests_check_format_vectors_CFLAGS = $(tests_cflags)
tests_check_format_vectors_LDADD = $(tests_ref) -lm

tests_check_rounding_SOURCES = tests/check_rounding.c \
	tests/format_oracle.c tests/check_values.c tests/check_assay.c
tests_check_rounding_CPPFLAGS = $(tests_cppflags)
tests_check_rounding_CFLAGS = $(tests_cflags)
tests_check_rounding_LDADD = $(tests_ref) -lm

# the tables are what is made today, and they are right
if HAVE_CHECK
check_PROGRAMS += tests/read_conformance
TESTS += tests/conformance.test
endif
tests_read_conformance_SOURCES = tests/read_conformance.c \
	tests/block_oracle.c tests/format_oracle.c tests/check_values.c
tests_read_conformance_CFLAGS = $(tests_cflags)
tests_read_conformance_LDADD = $(tests_ref) -lm
EXTRA_DIST += tests/conformance.test

# Not in `make check`: minutes. All binary32 inputs.
EXTRA_PROGRAMS += tests/exhaustive
CLEANFILES += tests/exhaustive
tests_exhaustive_SOURCES = tests/exhaustive.c tests/format_oracle.c \
	tests/check_values.c
tests_exhaustive_CFLAGS = $(tests_cflags)
tests_exhaustive_LDADD = $(tests_ref) -lm
check-exhaustive: tests/exhaustive
	tests/exhaustive
.PHONY: check-exhaustive
