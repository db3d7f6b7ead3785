# SPDX-License-Identifier: MIT
noinst_LTLIBRARIES += golden/libgolden.la
golden_libgolden_la_SOURCES = \
	golden/alias.def golden/answer_tensor.c golden/answer_tensor.h \
	golden/answers.c golden/answers.h golden/array.c \
	golden/array.h golden/audit.h golden/audit_figure.c \
	golden/audit_figure.def golden/audit_figure.h golden/audit_html.c \
	golden/audit_measure.c golden/audit_table.c golden/audit_table.h \
	golden/audit_text.c golden/audit_transport.c \
	golden/audit_transport.h golden/bench.c golden/bench.def \
	golden/bench.h golden/bench_plan.c golden/case.c golden/cast.c \
	golden/cast.h golden/cast_file.h golden/cast_input.c \
	golden/cast_output.c golden/child.c golden/child.h golden/clock.h \
	golden/colour.def golden/colour.h golden/csv.c golden/csv.h \
	golden/distance_figure.def golden/explanation.c \
	golden/explanation.def golden/explanation.h \
	golden/explanation_map.def golden/export.c golden/export.h \
	golden/export_sink.c golden/export_sink.h golden/gnuplot.c \
	golden/gnuplot.h golden/h5.c golden/h5.h golden/h5_data.c \
	golden/h5_hash.c golden/h5_walk.c golden/heads.c golden/heads.h \
	golden/heads_cases.c golden/heads_cases.h golden/html.c \
	golden/html.h golden/import.c golden/import.h \
	golden/input.c golden/input.h golden/json.c \
	golden/json.h golden/json_row.c golden/json_row.h golden/kin.c \
	golden/kin.h golden/layout.c golden/layout.h golden/limits.c \
	golden/limits.h golden/made.c golden/made.h golden/names.c \
	golden/names.h golden/npy.c golden/npy.h golden/npy_header.c \
	golden/npy_type.def golden/plot.c golden/plot.h \
	golden/plot_cells.c golden/plot_points.c golden/plot_script.h \
	golden/provenance.c golden/provenance.h golden/recipe_file.c \
	golden/recipe_file.h golden/run_array.def golden/run_beyond.def \
	golden/run_count.def golden/run_fact.def golden/run_facts.c \
	golden/run_facts.h golden/run_file.h \
	golden/run_file_read.c golden/run_file_write.c golden/run_json.c \
	golden/run_json.h golden/run_layout.c golden/run_layout.h golden/file_hash.c golden/file_hash.h \
	golden/run_parts.c golden/run_parts.h \
	golden/run_payload.c golden/run_row.def golden/run_steps.def \
	golden/safetensors.c golden/safetensors.h \
	golden/safetensors_dtype.def golden/safetensors_header.c \
	golden/safetensors_header.h golden/safetensors_write.c \
	golden/safetensors_write.h golden/scale_bytes.c \
	golden/scale_bytes.h golden/scale_reading.c golden/scale_reading.h \
	golden/scale_reading_bytes.c \
	golden/select.c golden/select.h golden/set.h golden/set_file.h \
	golden/set_layout.h golden/set_open.c golden/set_read.c \
	golden/set_size.def golden/set_write.c golden/sheet.c \
	golden/sheet.h golden/show_set.c golden/show_set.h golden/sketch.c \
	golden/sketch.h golden/source.c golden/source.h golden/stored.c \
	golden/stored.h golden/stored_kind.def golden/stored_part.c \
	golden/svg.c golden/svg.h golden/tail.c golden/tail.h \
	golden/temp_file.c golden/temp_file.h \
	golden/temp_stale.c golden/temp_stale.h \
	golden/show_recipe.c golden/show_recipe.h \
	golden/temp_folder.c golden/temp_folder.h golden/tensors.c \
	golden/tensors.h golden/tensors_form.h golden/tensors_h5.c \
	golden/tensors_npy.c golden/term.c golden/term.h golden/text.c \
	golden/text.h golden/topic.c golden/topic.def golden/topic.h \
	golden/utf8.c golden/utf8.h golden/verb.c golden/verb.h \
	golden/verb_audit.c golden/verb_bench.c golden/verb_cast.c \
	golden/verb_export.c golden/verb_generate.c golden/verb_import.c \
	golden/verb_list.c \
	golden/verb_verify.c golden/verify_jitter.c \
	golden/verify_jitter.h verb.def
golden_libgolden_la_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS) $(HDF5_CFLAGS) \
	$(JANSSON_CFLAGS) $(SMARTCOLS_CFLAGS) $(XXHASH_CFLAGS)
golden_libgolden_la_LIBADD = $(HDF5_LIBS) $(JANSSON_LIBS) $(SMARTCOLS_LIBS) \
	$(XXHASH_LIBS)
