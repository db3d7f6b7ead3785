# SPDX-License-Identifier: MIT
# Unit tests of ref/.
check_programs_ref = tests/check_attention tests/check_blas \
	tests/check_captured tests/check_decode tests/check_error \
	tests/check_format tests/check_format_cases tests/check_format_vectors \
	tests/check_metrics tests/check_pack tests/check_problem \
	tests/check_recipe tests/check_rounding tests/check_tile \
	tests/check_tile_vectors
EXTRA_DIST += tests/check_values.h tests/format_oracle.h tests/vectors.h

tests_check_attention_SOURCES = tests/check_attention.c tests/check_values.c \
	tests/check_assay.c
tests_check_attention_CPPFLAGS = $(tests_cppflags)
tests_check_attention_CFLAGS = $(tests_cflags)
tests_check_attention_LDADD = $(tests_ref) -lm

tests_check_blas_SOURCES = tests/check_blas.c tests/check_assay.c
tests_check_blas_CPPFLAGS = $(tests_cppflags)
tests_check_blas_CFLAGS = $(tests_cflags)
tests_check_blas_LDADD = $(tests_ref)

tests_check_captured_SOURCES = tests/check_captured.c tests/check_values.c \
	tests/check_assay.c
tests_check_captured_CPPFLAGS = $(tests_cppflags)
tests_check_captured_CFLAGS = $(tests_cflags)
tests_check_captured_LDADD = $(tests_golden) -lm

tests_check_error_SOURCES = tests/check_error.c tests/check_assay.c
tests_check_error_CPPFLAGS = $(tests_cppflags)
tests_check_error_CFLAGS = $(tests_cflags)
tests_check_error_LDADD = $(tests_ref)

tests_check_metrics_SOURCES = tests/check_metrics.c tests/check_values.c \
	tests/check_assay.c
tests_check_metrics_CPPFLAGS = $(tests_cppflags)
tests_check_metrics_CFLAGS = $(tests_cflags)
tests_check_metrics_LDADD = $(tests_ref) -lm

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

tests_check_decode_SOURCES = tests/check_decode.c \
	tests/check_values.c tests/check_assay.c
tests_check_decode_CPPFLAGS = $(tests_cppflags)
tests_check_decode_CFLAGS = $(tests_cflags)
tests_check_decode_LDADD = $(tests_ref) -lm

tests_check_rounding_SOURCES = tests/check_rounding.c \
	tests/format_oracle.c tests/check_values.c tests/check_assay.c
tests_check_rounding_CPPFLAGS = $(tests_cppflags)
tests_check_rounding_CFLAGS = $(tests_cflags)
tests_check_rounding_LDADD = $(tests_ref) -lm

tests_check_pack_SOURCES = tests/check_pack.c tests/check_values.c \
	tests/check_assay.c
tests_check_pack_CPPFLAGS = $(tests_cppflags)
tests_check_pack_CFLAGS = $(tests_cflags)
tests_check_pack_LDADD = $(tests_ref)

tests_check_problem_SOURCES = tests/check_problem.c tests/check_assay.c
tests_check_problem_CPPFLAGS = $(tests_cppflags)
tests_check_problem_CFLAGS = $(tests_cflags)
tests_check_problem_LDADD = $(tests_ref) -lm

tests_check_recipe_SOURCES = tests/check_recipe.c tests/check_values.c \
	tests/check_assay.c
tests_check_recipe_CPPFLAGS = $(tests_cppflags)
tests_check_recipe_CFLAGS = $(tests_cflags) $(HDF5_CFLAGS)
tests_check_recipe_LDADD = $(tests_golden) $(HDF5_LIBS) -lm

tests_check_tile_SOURCES = tests/check_tile.c tests/check_values.c \
	tests/check_assay.c
tests_check_tile_CPPFLAGS = $(tests_cppflags)
tests_check_tile_CFLAGS = $(tests_cflags)
tests_check_tile_LDADD = $(tests_ref)

tests_check_tile_vectors_SOURCES = tests/check_tile_vectors.c \
	tests/vectors.c tests/check_values.c tests/check_assay.c
tests_check_tile_vectors_CPPFLAGS = $(tests_cppflags)
tests_check_tile_vectors_CFLAGS = $(tests_cflags) $(HDF5_CFLAGS)
tests_check_tile_vectors_LDADD = $(tests_ref) $(HDF5_LIBS) -lm

# data/conformance: what is there, and that it is right
EXTRA_DIST += tests/block_oracle.h tests/conformance.test
check_PROGRAMS += tests/read_conformance
tests_read_conformance_SOURCES = tests/read_conformance.c \
	tests/block_oracle.c tests/format_oracle.c tests/check_values.c
tests_read_conformance_CFLAGS = $(tests_cflags)
tests_read_conformance_LDADD = ref/libref.la $(CHECK_LIBS) -lm
TESTS += tests/conformance.test
