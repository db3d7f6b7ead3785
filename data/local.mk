# SPDX-License-Identifier: MIT
dist_pkgdata_DATA = data/lm_causal_gqa.safetensors data/mlm_bidir.safetensors
EXTRA_DIST += data/README.md data/cut_heads.py
