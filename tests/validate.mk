# SPDX-License-Identifier: MIT
# Tests of validate/ and of the program as a whole.
check_programs_validate = \
	tests/check_judge tests/check_gates tests/check_child \
	tests/check_command tests/check_doctor tests/check_explain \
	tests/check_explanation tests/check_locate tests/check_mutation \
	tests/check_scale_bytes tests/check_outputs
tests_check_judge_SOURCES = tests/check_judge.c tests/check_assay.c
tests_check_judge_CPPFLAGS = $(tests_cppflags)
tests_check_judge_CFLAGS = $(tests_cflags)
tests_check_judge_LDADD = validate/libvalidate.la $(tests_golden)
tests_check_gates_SOURCES = tests/check_gates.c tests/check_assay.c
tests_check_gates_CPPFLAGS = $(tests_cppflags)
tests_check_gates_CFLAGS = $(tests_cflags)
tests_check_gates_LDADD = validate/libvalidate.la $(tests_golden)
tests_check_child_SOURCES = tests/check_child.c tests/check_assay.c
tests_check_child_CPPFLAGS = $(tests_cppflags)
tests_check_child_CFLAGS = $(tests_cflags)
tests_check_child_LDADD = validate/libvalidate.la $(tests_golden)

tests_check_mutation_SOURCES = tests/check_mutation.c tests/check_assay.c
tests_check_mutation_CPPFLAGS = $(tests_cppflags)
tests_check_mutation_CFLAGS = $(tests_cflags)
tests_check_mutation_LDADD = validate/libvalidate.la $(tests_golden)

program_tests = \
	tests/bounds.test tests/command.test tests/escapes.test \
	tests/faulty.test tests/forms.test tests/gpu.test \
	tests/gpu_faults.test tests/hygiene.test tests/own_kernel.test \
	tests/probe.test tests/prove.test tests/quantizer.test \
	tests/readme.test tests/recipes.test \
	tests/shapes.test tests/limits.test tests/record.test \
	tests/report.test tests/explain.test tests/examples.test \
	tests/torch.test tests/outputs.test tests/import.test tests/torture.test \
	tests/resume.test tests/jobs.test
TESTS += $(program_tests)
EXTRA_DIST += \
	$(program_tests) tests/packed_module.c tests/escape_module.c \
	tests/torture_module.c tests/quantizer_module.c \
	tests/graph_module.c tests/probe_module.c \
	tests/fake_gpu.c tests/gpu_faults.hip tests/junit-10.xsd \
	tests/README.md tests/check_capture.py tests/check_run_torch.py
AM_TESTS_ENVIRONMENT = CC='$(CC)'; CXX='$(CXX)'; export CC CXX;

tests_check_doctor_SOURCES = tests/check_doctor.c tests/check_assay.c \
	tests/check_values.c tests/check_values.h
tests_check_doctor_CPPFLAGS = $(tests_cppflags)
tests_check_doctor_CFLAGS = $(tests_cflags)
tests_check_doctor_LDADD = validate/libvalidate.la $(tests_golden)

tests_check_locate_SOURCES = tests/check_locate.c tests/check_assay.c
tests_check_locate_CPPFLAGS = $(tests_cppflags)
tests_check_locate_CFLAGS = $(tests_cflags)
tests_check_locate_LDADD = validate/libvalidate.la $(tests_golden)
check_PROGRAMS += tests/print_report

tests_print_report_SOURCES = tests/print_report.c
tests_print_report_CPPFLAGS = $(AM_CPPFLAGS)
tests_print_report_LDADD = validate/libvalidate.la golden/libgolden.la \
	ref/libref.la

check_PROGRAMS += tests/make_proof
tests_make_proof_SOURCES = tests/make_proof.c
tests_make_proof_CPPFLAGS = $(AM_CPPFLAGS)
tests_make_proof_LDADD = validate/libvalidate.la golden/libgolden.la \
	ref/libref.la

# memory that runs out where the test says
tests_check_explain_SOURCES = tests/check_explain.c tests/check_assay.c
tests_check_explain_CPPFLAGS = $(tests_cppflags)
tests_check_explain_CFLAGS = $(tests_cflags)
tests_check_explain_LDFLAGS = -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc \
	-Wl,--wrap=posix_memalign,--wrap=free
tests_check_explain_LDADD = validate/libvalidate.la $(tests_golden)

tests_check_explanation_SOURCES = tests/check_explanation.c tests/made_set.c \
	tests/check_assay.c
tests_check_explanation_CPPFLAGS = $(tests_cppflags)
tests_check_explanation_CFLAGS = $(tests_cflags) $(HDF5_CFLAGS) \
	$(JANSSON_CFLAGS)
tests_check_explanation_LDADD = validate/libvalidate.la $(tests_golden) \
	$(HDF5_LIBS) $(JANSSON_LIBS)

tests_check_scale_bytes_SOURCES = tests/check_scale_bytes.c tests/check_assay.c
tests_check_scale_bytes_CPPFLAGS = $(tests_cppflags)
tests_check_scale_bytes_CFLAGS = $(tests_cflags)
tests_check_scale_bytes_LDADD = validate/libvalidate.la $(tests_golden)

check_PROGRAMS += tests/outside
tests_outside_SOURCES = tests/outside.c
tests_outside_CPPFLAGS = $(AM_CPPFLAGS)
tests_outside_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS) $(JANSSON_CFLAGS)
tests_outside_LDADD = golden/libgolden.la ref/libref.la

tests_check_command_SOURCES = tests/check_command.c tests/check_assay.c
tests_check_command_CPPFLAGS = $(tests_cppflags)
tests_check_command_CFLAGS = $(tests_cflags)
tests_check_command_LDADD = validate/libvalidate.la $(tests_golden)

tests_check_outputs_SOURCES = tests/check_outputs.c tests/check_assay.c
tests_check_outputs_CPPFLAGS = $(tests_cppflags)
tests_check_outputs_CFLAGS = $(tests_cflags)
tests_check_outputs_LDADD = validate/libvalidate.la $(tests_golden) -lm
