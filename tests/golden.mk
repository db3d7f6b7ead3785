# SPDX-License-Identifier: MIT
# Tests of golden/ and of the verbs over it.
check_programs_golden = tests/check_safetensors
tests_check_safetensors_SOURCES = tests/check_safetensors.c tests/check_assay.c
tests_check_safetensors_CPPFLAGS = $(tests_cppflags)
tests_check_safetensors_CFLAGS = $(tests_cflags) $(JANSSON_CFLAGS)
tests_check_safetensors_LDADD = $(tests_golden)

check_programs_golden += tests/check_set tests/check_set_bad
EXTRA_DIST += tests/made_set.h
tests_check_set_SOURCES = tests/check_set.c tests/made_set.c \
	tests/check_assay.c
tests_check_set_CPPFLAGS = $(tests_cppflags)
tests_check_set_CFLAGS = $(tests_cflags) $(HDF5_CFLAGS)
tests_check_set_LDADD = $(tests_golden) $(HDF5_LIBS)
tests_check_set_bad_SOURCES = tests/check_set_bad.c tests/made_set.c \
	tests/check_assay.c
tests_check_set_bad_CPPFLAGS = $(tests_cppflags)
tests_check_set_bad_CFLAGS = $(tests_cflags) $(HDF5_CFLAGS)
tests_check_set_bad_LDADD = $(tests_golden) $(HDF5_LIBS)

check_programs_golden += tests/check_h5
tests_check_h5_SOURCES = tests/check_h5.c tests/made_set.c tests/check_assay.c
tests_check_h5_CPPFLAGS = $(tests_cppflags)
tests_check_h5_CFLAGS = $(tests_cflags) $(HDF5_CFLAGS)
tests_check_h5_LDADD = $(tests_golden) $(HDF5_LIBS)

check_programs_golden += tests/check_run_file
tests_check_run_file_SOURCES = tests/check_run_file.c tests/made_set.c \
	tests/check_assay.c
tests_check_run_file_CPPFLAGS = $(tests_cppflags)
tests_check_run_file_CFLAGS = $(tests_cflags) $(HDF5_CFLAGS)
tests_check_run_file_LDADD = $(tests_golden) $(HDF5_LIBS)

check_programs_golden += tests/check_npy
tests_check_npy_SOURCES = tests/check_npy.c tests/check_assay.c
tests_check_npy_CPPFLAGS = $(tests_cppflags)
tests_check_npy_CFLAGS = $(tests_cflags)
tests_check_npy_LDADD = $(tests_golden)

# what the shell tests make and change their files with
check_PROGRAMS += tests/make_heads tests/change_set
tests_make_heads_SOURCES = tests/make_heads.c
tests_make_heads_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
tests_make_heads_LDADD = $(JANSSON_LIBS)
tests_change_set_SOURCES = tests/change_set.c
tests_change_set_CFLAGS = $(AM_CFLAGS) $(HDF5_CFLAGS) $(XXHASH_CFLAGS)
tests_change_set_LDADD = golden/libgolden.la ref/libref.la $(HDF5_LIBS) \
	$(XXHASH_LIBS)

check_PROGRAMS += tests/make_page
tests_make_page_SOURCES = tests/make_page.c
tests_make_page_LDADD = golden/libgolden.la ref/libref.la

golden_tests = tests/reproduce.test tests/badinput.test tests/cast.test \
	tests/cli.test tests/audit.test tests/made.test tests/recipe_file.test \
	tests/html.test tests/output_files.test
TESTS += $(golden_tests)
EXTRA_DIST += $(golden_tests) tests/common.sh

check_programs_golden += tests/check_text
tests_check_text_SOURCES = tests/check_text.c tests/check_assay.c
tests_check_text_CPPFLAGS = $(tests_cppflags)
tests_check_text_CFLAGS = $(tests_cflags)
tests_check_text_LDADD = $(tests_golden)
