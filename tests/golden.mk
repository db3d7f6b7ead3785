# SPDX-License-Identifier: MIT
# Tests of golden/ and of the verbs over it.
check_programs_golden = tests/check_safetensors
tests_check_safetensors_SOURCES = tests/check_safetensors.c tests/check_assay.c
tests_check_safetensors_CPPFLAGS = $(tests_cppflags)
tests_check_safetensors_CFLAGS = $(tests_cflags) $(JANSSON_CFLAGS)
tests_check_safetensors_LDADD = $(tests_golden)
