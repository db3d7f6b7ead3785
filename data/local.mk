# SPDX-License-Identifier: MIT
dist_pkgdata_DATA = data/lm_causal_gqa.safetensors data/mlm_bidir.safetensors
EXTRA_DIST += data/README.md data/cut_heads.py data/cut_outputs.py \
	data/gfx950/ragged.outputs.safetensors data/gfx950/ragged.safetensors \
	data/gfx950/tiles.outputs.safetensors data/gfx950/tiles.safetensors

# Tables for checking other converters; tests/conformance.test compares them.
conformance_files = data/conformance/README.md data/conformance/blocks.csv \
	data/conformance/codes.csv data/conformance/packing.csv \
	data/conformance/rounding.csv
EXTRA_DIST += $(conformance_files)
check_PROGRAMS += data/make_conformance
data_make_conformance_SOURCES = data/make_conformance.c
data_make_conformance_LDADD = ref/libref.la -lm
conformance: data/make_conformance
	data/make_conformance $(srcdir)/data/conformance
.PHONY: conformance
