#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# Cuts the small outputs of data/gfx950 from the full ones, with their inputs:
#     data/cut_outputs.py KERNEL_OUTPUTS_DIR OUT_DIR
# Copies bf16 words and computes nothing. Same input, same bytes.
"""Cut the small kernel outputs of data/gfx950 from the full ones."""

import os
import sys

from cut_heads import SCALE, CutError, cut_tensor, pack

# Outputs hang on every key, so keys cannot be cut. Of a recipe with one scale a
# tensor neither can heads, unless the head that is left has the largest element:
# head 2 has that of V, so mxfp8 stays what it was; f6f8 and f6f4 have scales of
# channels and blocks. fp8, i8fp8 and f8f6 have one scale for Q or K and are not
# here. Rows are independent of each other, so queries can be: in these, each key,
# tile and scale that a mutation of `assay prove` leaves out has some weight.
HEAD, FIRST, QUERIES = 2, 64, 128
# file, name here, keys, recipes
CUTS = (
    ("tiles11", "tiles", 1408, ("mxfp8", "f6f8", "f6f4")),
    ("ragged", "ragged", 1500, ("mxfp8",)),
)
SOURCE = ("mlm_bidir_mha_dev_b.safetensors layer3 head 6,"
          f" queries {FIRST} to {FIRST + QUERIES - 1}, first %d keys")
KERNEL = {
    "layout": "[head, token, channel]",
    "kernel": "aiter-mha-v4",
    "build": "AITER's gfx950 code objects of 2026-08-22",
    "device": "gfx950, on AMD's emulator of the instruction set",
}


def cut(folder, file, name, keys, recipes):
    """Return the bytes of the inputs and of the outputs of one case."""
    inputs = os.path.join(folder, file + ".safetensors")
    outputs = os.path.join(folder, file + ".gfx950.safetensors")
    heads = {f"layer3.{x}": cut_tensor(inputs, f"layer3.{x}", (HEAD,), first, n)
             for x, first, n in (("q", FIRST, QUERIES), ("k", 0, keys),
                                 ("v", 0, keys))}
    words = {f"{name}.layer3.{r}.o":
             cut_tensor(outputs, f"{file}.layer3.{r}.o", (HEAD,), FIRST,
                        QUERIES)
             for r in recipes}
    return (pack(heads, {"causal": "false", "softmax_scale": SCALE,
                         "source": SOURCE % keys}),
            pack(words, KERNEL))


def main(arguments):
    """Cut all files; return the exit status."""
    if len(arguments) != 2:
        print("usage: cut_outputs.py KERNEL_OUTPUTS_DIR OUT_DIR",
              file=sys.stderr)
        return 2
    folder, out = arguments
    try:
        for file, name, keys, recipes in CUTS:
            both = cut(folder, file, name, keys, recipes)
            for data, end in zip(both, ("", ".outputs")):
                path = os.path.join(out, f"{name}{end}.safetensors")
                with open(path, "wb") as to:
                    to.write(data)
    except (CutError, OSError, ValueError) as error:
        print(f"cut_outputs.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
