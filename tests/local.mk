# SPDX-License-Identifier: MIT
EXTRA_DIST += tests/check_assay.h

tests_cppflags = $(AM_CPPFLAGS) \
	-DASSAY_TOP_SRCDIR='"$(abs_top_srcdir)"' \
	-DASSAY_MODULE_DIR='"$(abs_top_builddir)/kernels/.libs"'
