# SPDX-License-Identifier: MIT
noinst_LTLIBRARIES += validate/libvalidate.la
validate_libvalidate_la_SOURCES = \
	validate/buffers.c validate/buffers.h \
	validate/device.c validate/device.h validate/edit.c validate/edit.h \
	validate/gate.def validate/judge.c validate/judge.h \
	validate/module.c validate/module.h validate/mutate_output.c \
	validate/mutate_problem.c validate/mutation.c validate/mutation.def \
	validate/mutation.h validate/prove.c validate/prove.h \
	validate/prove_report.c validate/report.c \
	validate/report.h validate/report_json.c validate/report_table.c \
	validate/result.h validate/run_case.c \
	validate/run_case.h validate/topics.c validate/topics.h \
	validate/verb_prove.c validate/verb_validate.c \
	validate/verdict.def
validate_libvalidate_la_CPPFLAGS = $(AM_CPPFLAGS) \
	-DASSAY_MODULE_DIR='"$(moduledir)"'
validate_libvalidate_la_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
validate_libvalidate_la_LIBADD = $(JANSSON_LIBS) -ldl
