# SPDX-License-Identifier: MIT
noinst_LTLIBRARIES += validate/libvalidate.la
validate_libvalidate_la_SOURCES = \
	validate/buffers.c validate/buffers.h \
	validate/device.c validate/device.h \
	validate/gate.def validate/judge.c validate/judge.h \
	validate/module.c validate/module.h validate/report.c \
	validate/report.def validate/report.h validate/report_csv.c \
	validate/report_file.c validate/report_json.c \
	validate/report_junit.c validate/report_reasons.c \
	validate/report_table.c \
	validate/result.h validate/run_case.c \
	validate/run_case.h validate/verb_validate.c validate/verdict.def
validate_libvalidate_la_CPPFLAGS = $(AM_CPPFLAGS) \
	-DASSAY_MODULE_DIR='"$(moduledir)"'
validate_libvalidate_la_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS) $(XML_CFLAGS)
validate_libvalidate_la_LIBADD = $(JANSSON_LIBS) $(XML_LIBS) -ldl
