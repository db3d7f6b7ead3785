# SPDX-License-Identifier: MIT
examplesdir = $(pkgdatadir)/examples
dist_examples_SCRIPTS = examples/capture_sdpa.py examples/read_golden.py \
	examples/run_torch.py
dist_examples_DATA = examples/attention_call.py examples/tensor_file.py \
	examples/unrounded_p.json
