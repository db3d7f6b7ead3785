# SPDX-License-Identifier: MIT
noinst_LTLIBRARIES += validate/libvalidate.la
validate_libvalidate_la_SOURCES = \
	validate/answer_file.c validate/case_file.c validate/case_file.h \
	validate/command_line.c validate/command_line.h \
	validate/command_value.def validate/driver_command.c \
	validate/program.c validate/program.h validate/served.c \
	validate/served.h \
	validate/alike.c validate/alike.h validate/buffers.c \
	validate/buffers.h validate/compare.c validate/compare.h \
	validate/compare_figure.def validate/compare_html.c \
	validate/compare_judge.c \
	validate/compare_report.c validate/compare_report.h \
	validate/delivered.c validate/delivered.h validate/device.c \
	validate/device.def validate/device.h \
	validate/device_gpu.c validate/device_host.c \
	validate/device_list.c validate/device_list.h \
	validate/device_peak.def validate/doctor.c validate/doctor.def \
	validate/doctor.h validate/doctor_offset.def \
	validate/doctor_predict.c validate/doctor_predict.h \
	validate/doctor_scale.c validate/doctor_scale.h validate/dot.h \
	validate/driver.c validate/driver.def validate/driver.h \
	validate/driver_module.c validate/driver_outputs.c \
	validate/edit.c validate/edit.h \
	validate/explain.c validate/explain.h validate/explain_form.c \
	validate/explain_form.h validate/fault.c validate/fault.h \
	validate/gate.def validate/gates.c validate/gates.h \
	validate/gates_rows.c validate/gates_twin.c \
	validate/gpu_attribute.def validate/gpu_call.def \
	validate/gpu_library.def validate/gpu_runtime.c \
	validate/gpu_runtime.h validate/heat.c validate/heat.def \
	validate/output_name.c validate/output_name.h validate/outputs.h \
	validate/outputs_bind.c \
	validate/heat.h validate/judge.c validate/judge.h \
	validate/likeness.def validate/limit_source.def validate/limits.c \
	validate/limits.h validate/locate.c validate/locate.h \
	validate/locate_channels.c validate/locate_key_sets.c \
	validate/locate_keys.c validate/locate_keys.h \
	validate/locate_rescale.c validate/locate_rows.c \
	validate/locate_gain.c validate/locate_scene.h validate/locate_values.c \
	validate/locate_ways.c validate/module.c validate/module.h \
	validate/mutate_output.c validate/mutate_payload.c \
	validate/mutate_problem.c validate/mutation.c \
	validate/mutation.def validate/mutation.h validate/pattern.def \
	validate/picture.c validate/picture.h validate/prove.c \
	validate/probe.c validate/probe.def validate/probe.h \
	validate/probe_after.c validate/probe_aliasing.c \
	validate/probe_batch.c validate/probe_bounds.c \
	validate/probe_determinism.c validate/probe_inputs.c \
	validate/probe_made.c validate/probe_made.h validate/probe_stale.c \
	validate/probe_race.c validate/host_traffic.c \
	validate/probe_report.c validate/probe_report.h \
	validate/probe_graph.c validate/probe_workspace.c \
	validate/verb_probe.c \
	validate/prove.h validate/prove_html.c validate/prove_limits.c \
	validate/prove_report.c validate/prove_report.h \
	validate/quarantine.c validate/quarantine.h validate/record.c \
	validate/jobs.c validate/jobs.h validate/record_write.c validate/record_write.h \
	validate/record.h validate/report.c validate/report.def \
	validate/report.h validate/report_csv.c validate/report_draw.c \
	validate/report_draw.h validate/report_explain.c \
	validate/report_explain.h validate/report_file.c \
	validate/report_html.c validate/report_json.c \
	validate/report_junit.c validate/report_limits.c \
	validate/report_payloads.c \
	validate/report_reasons.c validate/report_right.c validate/report_table.c \
	validate/rescale.c validate/rescale.h validate/result.h \
	validate/run_case.c validate/run_case.h validate/run_set.c \
	validate/run_set.h validate/show_run.c \
	validate/memory_limit.c validate/memory_limit.h \
	validate/show_run.h validate/task.c validate/task.h \
	validate/topics.c validate/topics.h validate/verb_compare.c \
	validate/validate_options.c validate/validate_options.h \
	validate/verb_judge.c validate/verb_prove.c validate/verb_show.c \
	validate/verb_validate.c validate/verdict.def validate/worker.c \
	validate/worker.h
validate_libvalidate_la_CPPFLAGS = $(AM_CPPFLAGS) \
	-DASSAY_MODULE_DIR='"$(moduledir)"'
validate_libvalidate_la_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS) $(XML_CFLAGS)
validate_libvalidate_la_LIBADD = $(JANSSON_LIBS) -ldl $(XML_LIBS)
