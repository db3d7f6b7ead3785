# SPDX-License-Identifier: MIT
# Accuracy that others published, measured: minutes, so never a test.
EXTRA_DIST += doc/anchor_run.h doc/anchors.def doc/anchors.in.md \
	doc/anchors.md doc/gates.md doc/pytorch.md
EXTRA_PROGRAMS += doc/anchors
doc_anchors_SOURCES = doc/anchors.c doc/anchor_run.c
doc_anchors_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
doc_anchors_LDADD = ref/libref.la -lm
EVERY =
anchors: doc/anchors
	doc/anchors $(srcdir)/doc/anchors.in.md $(EVERY) >anchors.tmp
	mv anchors.tmp $(srcdir)/doc/anchors.md doc/gates.md
.PHONY: anchors
