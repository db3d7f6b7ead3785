# SPDX-License-Identifier: MIT
# libref is what the program and the tests link; libassay is the same code
# with only ASSAY_API symbols visible.
assayinclude_HEADERS += \
	ref/assay/attention.h ref/assay/audit.h ref/assay/blas.h \
	ref/assay/block.h ref/assay/distribution.h ref/assay/error.h \
	ref/assay/format.h ref/assay/memory.h ref/assay/merge.h \
	ref/assay/metrics.h ref/assay/n_eff.h ref/assay/operand.h \
	ref/assay/pack.h ref/assay/problem.h ref/assay/problem_line.h \
	ref/assay/quantize.h ref/assay/random.h ref/assay/recipe.h \
	ref/assay/rotate.h ref/assay/smooth.h ref/assay/split.h \
	ref/assay/stage.h ref/assay/tile.h ref/assay/tokens.h \
	ref/assay/transport.h ref/assay/distribution.def \
	ref/assay/f32_rule.def ref/assay/format.def ref/assay/mask.def \
	ref/assay/overflow.def ref/assay/packing.def ref/assay/quantizer.def \
	ref/assay/promise.def ref/assay/recipe.def ref/assay/rotation_order.def \
	ref/assay/rounding.def ref/assay/scale.def ref/assay/scale_rule.def \
	ref/assay/softmax.def ref/assay/split.def ref/assay/stage.def \
	ref/assay/status.def ref/assay/tail.def ref/assay/tile.def \
	ref/assay/token_order.def ref/assay/transport.def \
	ref/assay/transport_profile.def

noinst_LTLIBRARIES += ref/libref.la
ref_libref_la_SOURCES = \
	ref/attention_blocked.c ref/attention_plain.c ref/audit.c ref/bits.h \
	ref/blas.c ref/blas_threads.h ref/block.c ref/blocked.h \
	ref/blocked_engine.h ref/blocked_f32.c ref/blocked_f64.c \
	ref/distribution.c ref/distribution_needle.c \
	ref/distribution_peak.c ref/distribution_spread.c ref/draw.c ref/draw.h ref/emulate.c ref/emulate.h ref/error.c \
	ref/error_bar.c ref/text.c ref/text.h ref/format.c ref/format_array.c ref/jitter.c \
	ref/jitter.h ref/memory.c ref/merge.c ref/metrics.c \
	ref/metrics_rows.c ref/metrics_rows.h ref/n_eff.c ref/operand.c ref/pack.c ref/problem.c ref/problem_line.c \
	ref/quantize.c ref/quantize_blocks.c ref/quantize_blocks.h \
	ref/random.c ref/recipe.c ref/recipe_quantize.c ref/recipe_valid.c ref/rotate.c ref/round.h ref/row_max.h \
	ref/scale_rule.c ref/scale_rule.h ref/smooth.c ref/softmax_coded.c \
	ref/softmax_coded.h ref/split.c ref/stage.c ref/tile.c ref/tile_k.c \
	ref/tile_layout.h ref/tile_v.c ref/tokens.c ref/transport.c \
	ref/transport_send.c ref/vexp.c ref/vexp.h
# -fno-trapping-math changes no value: it lets gcc compute both sides of a
# choice, without which loops with a choice are not vectorised.
ref_libref_la_CFLAGS = $(AM_CFLAGS) -fno-trapping-math $(OPENMP_CFLAGS) \
	$(OPENBLAS_CFLAGS) $(SLEEF_CFLAGS)
ref_libref_la_LIBADD = $(OPENBLAS_LIBS) $(SLEEF_LIBS) -lm

if AVX2
noinst_LTLIBRARIES += ref/libavx2.la
ref_libavx2_la_SOURCES = ref/vexp_avx2.c
ref_libavx2_la_CFLAGS = $(AM_CFLAGS) $(SLEEF_CFLAGS) -mavx2 -mfma
ref_libref_la_LIBADD += ref/libavx2.la
else
EXTRA_DIST += ref/vexp_avx2.c
endif

# version-info history
#   0:0:0  0.1.0  first
lib_LTLIBRARIES += libassay.la
libassay_la_SOURCES =
libassay_la_CFLAGS = $(OPENMP_CFLAGS)
libassay_la_LIBADD = ref/libref.la
libassay_la_LDFLAGS = -version-info 0:0:0 -no-undefined $(OPENMP_CFLAGS)
