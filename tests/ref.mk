# SPDX-License-Identifier: MIT
# Unit tests of ref/.
check_programs_ref = \
	tests/check_attention tests/check_audit tests/check_blas \
	tests/check_block tests/check_captured tests/check_distribution \
	tests/check_error tests/check_kernel_outputs tests/check_merge \
	tests/check_metrics tests/check_metrics_rows \
	tests/check_metrics_narrow tests/check_n_eff tests/check_operand \
	tests/check_pack tests/check_problem tests/check_problem_line \
	tests/check_quantize tests/check_quantize_vectors tests/check_random \
	tests/check_recipe tests/check_recipe_bounds \
	tests/check_recipe_sparse \
	tests/check_recipe_cases tests/check_recipe_emulation \
	tests/check_recipe_jitter tests/check_recipe_valid \
	tests/check_recipe_vectors \
	tests/check_rotate tests/check_scale_rule tests/check_smooth \
	tests/check_split tests/check_tile tests/check_tile_vectors \
	tests/check_transport tests/check_transport_packed
EXTRA_DIST += \
	tests/check_values.h tests/plain_blocks.h tests/plain_quantize.h \
	tests/plain_recipe.h tests/plain_transport.h tests/recipe_run.h \
	tests/vectors.h

tests_check_attention_SOURCES = tests/check_attention.c tests/check_values.c \
	tests/check_assay.c
tests_check_attention_CPPFLAGS = $(tests_cppflags)
tests_check_attention_CFLAGS = $(tests_cflags)
tests_check_attention_LDADD = $(tests_ref) -lm

tests_check_blas_SOURCES = tests/check_blas.c tests/check_assay.c
tests_check_blas_CPPFLAGS = $(tests_cppflags)
tests_check_blas_CFLAGS = $(tests_cflags)
tests_check_blas_LDADD = $(tests_ref)

tests_check_captured_SOURCES = tests/check_captured.c tests/check_values.c \
	tests/check_assay.c
tests_check_captured_CPPFLAGS = $(tests_cppflags)
tests_check_captured_CFLAGS = $(tests_cflags)
tests_check_captured_LDADD = $(tests_golden) -lm

tests_check_error_SOURCES = tests/check_error.c tests/check_assay.c
tests_check_error_CPPFLAGS = $(tests_cppflags)
tests_check_error_CFLAGS = $(tests_cflags)
tests_check_error_LDADD = $(tests_ref)

tests_check_metrics_SOURCES = tests/check_metrics.c tests/check_values.c \
	tests/check_assay.c
tests_check_metrics_CPPFLAGS = $(tests_cppflags)
tests_check_metrics_CFLAGS = $(tests_cflags)
tests_check_metrics_LDADD = $(tests_ref) -lm

tests_check_metrics_rows_SOURCES = tests/check_metrics_rows.c \
	tests/check_values.c tests/check_assay.c
tests_check_metrics_rows_CPPFLAGS = $(tests_cppflags)
tests_check_metrics_rows_CFLAGS = $(tests_cflags)
tests_check_metrics_rows_LDADD = $(tests_ref) -lm

# The loops of a machine without wide registers, on any.
tests_check_metrics_narrow_SOURCES = $(tests_check_metrics_rows_SOURCES) \
	ref/metrics_rows.c
tests_check_metrics_narrow_CPPFLAGS = $(tests_cppflags) -DASSAY_CLONES=
tests_check_metrics_narrow_CFLAGS = $(tests_cflags) -fno-trapping-math
tests_check_metrics_narrow_LDADD = $(tests_ref) -lm

tests_check_pack_SOURCES = tests/check_pack.c tests/check_values.c \
	tests/check_assay.c
tests_check_pack_CPPFLAGS = $(tests_cppflags)
tests_check_pack_CFLAGS = $(tests_cflags)
tests_check_pack_LDADD = $(tests_ref)

tests_check_problem_SOURCES = tests/check_problem.c tests/check_assay.c
tests_check_problem_CPPFLAGS = $(tests_cppflags)
tests_check_problem_CFLAGS = $(tests_cflags)
tests_check_problem_LDADD = $(tests_ref) -lm

tests_check_recipe_SOURCES = tests/check_recipe.c tests/check_values.c \
	tests/check_assay.c
tests_check_recipe_CPPFLAGS = $(tests_cppflags)
tests_check_recipe_CFLAGS = $(tests_cflags)
tests_check_recipe_LDADD = $(tests_ref) -lm

tests_check_recipe_valid_SOURCES = tests/check_recipe_valid.c \
	tests/check_assay.c
tests_check_recipe_valid_CPPFLAGS = $(tests_cppflags)
tests_check_recipe_valid_CFLAGS = $(tests_cflags)
tests_check_recipe_valid_LDADD = $(tests_ref) -lm

tests_check_operand_SOURCES = tests/check_operand.c tests/vectors.c \
	tests/check_values.c tests/check_assay.c
tests_check_operand_CPPFLAGS = $(tests_cppflags)
tests_check_operand_CFLAGS = $(tests_cflags) $(HDF5_CFLAGS)
tests_check_operand_LDADD = $(tests_ref) $(HDF5_LIBS) -lm

tests_check_rotate_SOURCES = tests/check_rotate.c tests/check_values.c \
	tests/check_assay.c
tests_check_rotate_CPPFLAGS = $(tests_cppflags)
tests_check_rotate_CFLAGS = $(tests_cflags)
tests_check_rotate_LDADD = $(tests_ref) -lm

tests_check_smooth_SOURCES = tests/check_smooth.c tests/vectors.c \
	tests/check_values.c tests/check_assay.c
tests_check_smooth_CPPFLAGS = $(tests_cppflags)
tests_check_smooth_CFLAGS = $(tests_cflags) $(HDF5_CFLAGS)
tests_check_smooth_LDADD = $(tests_ref) $(HDF5_LIBS) -lm

tests_check_tile_SOURCES = tests/check_tile.c tests/check_values.c \
	tests/check_assay.c
tests_check_tile_CPPFLAGS = $(tests_cppflags)
tests_check_tile_CFLAGS = $(tests_cflags)
tests_check_tile_LDADD = $(tests_ref)

tests_check_tile_vectors_SOURCES = tests/check_tile_vectors.c \
	tests/vectors.c tests/check_values.c tests/check_assay.c
tests_check_tile_vectors_CPPFLAGS = $(tests_cppflags)
tests_check_tile_vectors_CFLAGS = $(tests_cflags) $(HDF5_CFLAGS)
tests_check_tile_vectors_LDADD = $(tests_ref) $(HDF5_LIBS) -lm

tests_check_quantize_vectors_SOURCES = tests/check_quantize_vectors.c \
	tests/vectors.c tests/check_values.c tests/check_assay.c
tests_check_quantize_vectors_CPPFLAGS = $(tests_cppflags)
tests_check_quantize_vectors_CFLAGS = $(tests_cflags) $(HDF5_CFLAGS)
tests_check_quantize_vectors_LDADD = $(tests_ref) $(HDF5_LIBS) -lm

tests_check_recipe_vectors_SOURCES = tests/check_recipe_vectors.c \
	tests/recipe_run.c tests/vectors.c tests/check_values.c tests/check_assay.c
tests_check_recipe_vectors_CPPFLAGS = $(tests_cppflags)
tests_check_recipe_vectors_CFLAGS = $(tests_cflags) $(HDF5_CFLAGS)
tests_check_recipe_vectors_LDADD = $(tests_ref) $(HDF5_LIBS) -lm

tests_check_kernel_outputs_SOURCES = tests/check_kernel_outputs.c \
	tests/check_values.c tests/check_assay.c
tests_check_kernel_outputs_CPPFLAGS = $(tests_cppflags)
tests_check_kernel_outputs_CFLAGS = $(tests_cflags)
tests_check_kernel_outputs_LDADD = $(tests_golden) -lm

tests_check_scale_rule_SOURCES = tests/check_scale_rule.c \
	tests/check_values.c tests/check_assay.c
tests_check_scale_rule_CPPFLAGS = $(tests_cppflags)
tests_check_scale_rule_CFLAGS = $(tests_cflags)
tests_check_scale_rule_LDADD = $(tests_ref) -lm

tests_check_block_SOURCES = tests/check_block.c tests/plain_blocks.c \
	tests/check_values.c tests/check_assay.c
tests_check_block_CPPFLAGS = $(tests_cppflags)
tests_check_block_CFLAGS = $(tests_cflags)
tests_check_block_LDADD = $(tests_ref) -lm

tests_check_quantize_SOURCES = tests/check_quantize.c tests/plain_blocks.c \
	tests/plain_quantize.c tests/check_values.c tests/check_assay.c
tests_check_quantize_CPPFLAGS = $(tests_cppflags)
tests_check_quantize_CFLAGS = $(tests_cflags)
tests_check_quantize_LDADD = $(tests_ref) -lm

tests_check_merge_SOURCES = tests/check_merge.c tests/check_values.c \
	tests/check_assay.c
tests_check_merge_CPPFLAGS = $(tests_cppflags)
tests_check_merge_CFLAGS = $(tests_cflags)
tests_check_merge_LDADD = $(tests_ref) -lm

tests_check_split_SOURCES = tests/check_split.c tests/check_assay.c
tests_check_split_CPPFLAGS = $(tests_cppflags)
tests_check_split_CFLAGS = $(tests_cflags)
tests_check_split_LDADD = $(tests_ref)

tests_check_transport_SOURCES = tests/check_transport.c \
	tests/plain_transport.c tests/check_values.c tests/check_assay.c
tests_check_transport_CPPFLAGS = $(tests_cppflags)
tests_check_transport_CFLAGS = $(tests_cflags)
tests_check_transport_LDADD = $(tests_ref) -lm

tests_check_transport_packed_SOURCES = tests/check_transport_packed.c \
	tests/plain_transport.c tests/check_values.c tests/check_assay.c
tests_check_transport_packed_CPPFLAGS = $(tests_cppflags)
tests_check_transport_packed_CFLAGS = $(tests_cflags)
tests_check_transport_packed_LDADD = $(tests_ref) -lm

tests_check_recipe_sparse_SOURCES = tests/check_recipe_sparse.c \
	tests/check_assay.c tests/check_values.c tests/check_values.h \
	tests/recipe_run.c tests/recipe_run.h
tests_check_recipe_sparse_CPPFLAGS = $(tests_cppflags)
tests_check_recipe_sparse_CFLAGS = $(tests_cflags)
tests_check_recipe_sparse_LDADD = $(tests_ref) -lm
tests_check_recipe_bounds_SOURCES = tests/check_recipe_bounds.c \
	tests/check_values.c tests/check_assay.c
tests_check_recipe_bounds_CPPFLAGS = $(tests_cppflags)
tests_check_recipe_bounds_CFLAGS = $(tests_cflags)
tests_check_recipe_bounds_LDADD = $(tests_ref) -lm

tests_check_random_SOURCES = tests/check_random.c tests/check_values.c \
	tests/check_assay.c
tests_check_random_CPPFLAGS = $(tests_cppflags)
tests_check_random_CFLAGS = $(tests_cflags)
tests_check_random_LDADD = $(tests_ref) -lm

tests_check_problem_line_SOURCES = tests/check_problem_line.c tests/check_assay.c
tests_check_problem_line_CPPFLAGS = $(tests_cppflags)
tests_check_problem_line_CFLAGS = $(tests_cflags)
tests_check_problem_line_LDADD = $(tests_ref) -lm

tests_check_distribution_SOURCES = tests/check_distribution.c tests/check_values.c \
	tests/check_assay.c
tests_check_distribution_CPPFLAGS = $(tests_cppflags)
tests_check_distribution_CFLAGS = $(tests_cflags)
tests_check_distribution_LDADD = $(tests_ref) -lm

tests_check_n_eff_SOURCES = tests/check_n_eff.c tests/check_values.c \
	tests/check_assay.c
tests_check_n_eff_CPPFLAGS = $(tests_cppflags)
tests_check_n_eff_CFLAGS = $(tests_cflags)
tests_check_n_eff_LDADD = $(tests_ref) -lm

tests_check_recipe_emulation_SOURCES = tests/check_recipe_emulation.c \
	tests/plain_recipe.c tests/recipe_run.c tests/check_values.c \
	tests/check_assay.c
tests_check_recipe_emulation_CPPFLAGS = $(tests_cppflags)
tests_check_recipe_emulation_CFLAGS = $(tests_cflags)
tests_check_recipe_emulation_LDADD = $(tests_ref) -lm

tests_check_recipe_jitter_SOURCES = tests/check_recipe_jitter.c \
	tests/plain_recipe.c tests/recipe_run.c tests/check_values.c \
	tests/check_assay.c
tests_check_recipe_jitter_CPPFLAGS = $(tests_cppflags)
tests_check_recipe_jitter_CFLAGS = $(tests_cflags)
tests_check_recipe_jitter_LDADD = $(tests_golden) -lm

tests_check_recipe_cases_SOURCES = tests/check_recipe_cases.c \
	tests/recipe_run.c tests/check_values.c tests/check_assay.c
tests_check_recipe_cases_CPPFLAGS = $(tests_cppflags)
tests_check_recipe_cases_CFLAGS = $(tests_cflags)
tests_check_recipe_cases_LDADD = $(tests_ref) -lm

tests_check_audit_SOURCES = tests/check_audit.c tests/check_values.c \
	tests/check_assay.c
tests_check_audit_CPPFLAGS = $(tests_cppflags)
tests_check_audit_CFLAGS = $(tests_cflags)
tests_check_audit_LDADD = $(tests_ref) -lm
