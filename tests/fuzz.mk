# SPDX-License-Identifier: MIT
# Harnesses of the readers. FUZZ_MAIN and FUZZ_LINK give them a main:
# replay.c for `make check`, libFuzzer in the build of `make fuzz`.
fuzz_programs = tests/fuzz/fuzz_limits tests/fuzz/fuzz_npy \
	tests/fuzz/fuzz_outputs tests/fuzz/fuzz_quarantine \
	tests/fuzz/fuzz_recipe \
	tests/fuzz/fuzz_record tests/fuzz/fuzz_safetensors tests/fuzz/fuzz_set \
	tests/fuzz/fuzz_tensors
fuzz_common = tests/fuzz/fuzz.c tests/fuzz/fuzz.h
fuzz_libs = $(FUZZ_MAIN) validate/libvalidate.la golden/libgolden.la \
	ref/libref.la
FUZZ_MAIN = tests/fuzz/libreplay.la
FUZZ_LINK =
check_PROGRAMS += $(fuzz_programs)
TESTS += tests/fuzz.test
EXTRA_DIST += tests/fuzz.test tests/fuzz/run tests/fuzz/seeds.sh \
	tests/fuzz/dict tests/fuzz/seeds
check_LTLIBRARIES += tests/fuzz/libreplay.la
tests_fuzz_libreplay_la_SOURCES = tests/fuzz/replay.c

tests_fuzz_fuzz_limits_SOURCES = tests/fuzz/fuzz_limits.c $(fuzz_common)
tests_fuzz_fuzz_limits_CFLAGS = $(AM_CFLAGS) $(HDF5_CFLAGS)
tests_fuzz_fuzz_limits_LDFLAGS = $(FUZZ_LINK)
tests_fuzz_fuzz_limits_LDADD = $(fuzz_libs)
tests_fuzz_fuzz_npy_SOURCES = tests/fuzz/fuzz_npy.c $(fuzz_common)
tests_fuzz_fuzz_npy_LDFLAGS = $(FUZZ_LINK)
tests_fuzz_fuzz_npy_LDADD = $(fuzz_libs)
tests_fuzz_fuzz_outputs_SOURCES = tests/fuzz/fuzz_outputs.c $(fuzz_common)
tests_fuzz_fuzz_outputs_LDFLAGS = $(FUZZ_LINK)
tests_fuzz_fuzz_outputs_LDADD = $(fuzz_libs)
tests_fuzz_fuzz_quarantine_SOURCES = tests/fuzz/fuzz_quarantine.c \
	$(fuzz_common)
tests_fuzz_fuzz_quarantine_LDFLAGS = $(FUZZ_LINK)
tests_fuzz_fuzz_quarantine_LDADD = $(fuzz_libs)
tests_fuzz_fuzz_recipe_SOURCES = tests/fuzz/fuzz_recipe.c \
	tests/fuzz/recipe_table.c tests/fuzz/quantizer_table.c $(fuzz_common)
tests_fuzz_fuzz_recipe_LDFLAGS = $(FUZZ_LINK)
tests_fuzz_fuzz_recipe_LDADD = $(fuzz_libs)
tests_fuzz_fuzz_safetensors_SOURCES = tests/fuzz/fuzz_safetensors.c \
	$(fuzz_common)
tests_fuzz_fuzz_safetensors_LDFLAGS = $(FUZZ_LINK)
tests_fuzz_fuzz_safetensors_LDADD = $(fuzz_libs)

# Of HDF5 files; see h5_here.c.
fuzz_h5_common = tests/fuzz/h5_here.c tests/fuzz/h5_mutate.c tests/fuzz/fuzz_h5.h \
	 $(fuzz_common)
fuzz_h5_cflags = $(AM_CFLAGS) $(HDF5_CFLAGS)
fuzz_h5_ldflags = $(FUZZ_LINK) -Wl,--wrap=stored_survives \
	-Wl,--wrap=h5_check_hash -Wl,--wrap=assay_alloc
fuzz_h5_libs = $(fuzz_libs) $(HDF5_LIBS)
fuzz_tables = tests/fuzz/recipe_table.c tests/fuzz/quantizer_table.c
tests_fuzz_fuzz_record_SOURCES = tests/fuzz/fuzz_record.c $(fuzz_h5_common) \
	$(fuzz_tables)
tests_fuzz_fuzz_record_CFLAGS = $(fuzz_h5_cflags)
tests_fuzz_fuzz_record_LDFLAGS = $(fuzz_h5_ldflags)
tests_fuzz_fuzz_record_LDADD = $(fuzz_h5_libs)
tests_fuzz_fuzz_set_SOURCES = tests/fuzz/fuzz_set.c $(fuzz_h5_common) \
	$(fuzz_tables)
tests_fuzz_fuzz_set_CFLAGS = $(fuzz_h5_cflags)
tests_fuzz_fuzz_set_LDFLAGS = $(fuzz_h5_ldflags)
tests_fuzz_fuzz_set_LDADD = $(fuzz_h5_libs)
tests_fuzz_fuzz_tensors_SOURCES = tests/fuzz/fuzz_tensors.c $(fuzz_h5_common)
tests_fuzz_fuzz_tensors_CFLAGS = $(fuzz_h5_cflags)
tests_fuzz_fuzz_tensors_LDFLAGS = $(fuzz_h5_ldflags)
tests_fuzz_fuzz_tensors_LDADD = $(fuzz_h5_libs)

# Not a test: it has no end. FUZZ_SECONDS is for each harness.
FUZZ_SECONDS = 60
fuzz: assay kernels/assay-faulty.la
	FUZZ_CC='$(FUZZ_CC)' FUZZ_SECONDS='$(FUZZ_SECONDS)' \
		$(srcdir)/tests/fuzz/run . $(notdir $(fuzz_programs))
.PHONY: fuzz
