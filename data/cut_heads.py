#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# Cuts the small heads of this folder from the full captured files:
#     data/cut_heads.py CAPTURED_DIR OUT_DIR
# Copies bf16 words and computes nothing. Same input, same bytes.
"""Cut the small captured heads of data/ from the full captured files."""

import json
import os
import sys

SCALE = "0.08838834764831845"  # 1/sqrt(128), the float64 nearest to it
BF16_BYTES = 2

# A kernel that forgets the last key must be visible in every head, and it is
# visible only where that key has weight. Token windows and heads were chosen
# for it, from softmax weights in float64 over the window's own keys:
#   causal         weight of the last key in the last row; >= 0.05 in each head
#   bidirectional  largest weight of the last key in any row; >= 0.05
# A causal window need not begin at token 0: RoPE is relative.
#
# file, tokens, then per layer: number, input, first token, query heads,
# key/value heads, weight per query head
CUTS = (
    ("lm_causal_gqa", "true", 512, (
        (0, "lm_causal_gqa_dev_a", 1088, (0, 3, 5, 7), (0, 1),
         (0.1486, 0.0714, 0.0694, 0.6100)),
        (5, "lm_causal_gqa_dev_b", 712, (0, 1, 5, 7), (0, 1),
         (0.9122, 0.9317, 0.7082, 0.7143)),
    )),
    # layer 0: 18 rows give that key 0.05 or more; layer 3: 31 rows
    ("mlm_bidir", "false", 500, (
        (0, "mlm_bidir_mha_dev_a", 603, (7,), (7,), (0.4370,)),
        (3, "mlm_bidir_mha_dev_b", 166, (2,), (2,), (0.4598,)),
    )),
)


class CutError(Exception):
    """An input is not what the table says."""


def read_header(file, path):
    """Return the header and the place where the data begin."""
    n_bytes = int.from_bytes(file.read(8), "little")
    if not 2 <= n_bytes <= 100_000_000:
        raise CutError(f"{path}: header length is {n_bytes}")
    return json.loads(file.read(n_bytes).decode("utf-8")), 8 + n_bytes


def cut_tensor(path, name, heads, first, n_tokens):
    """Return shape and bytes of some heads and tokens of one tensor."""
    with open(path, "rb") as file:
        header, data_begin = read_header(file, path)
        entry = header.get(name)
        if entry is None or entry["dtype"] != "BF16":
            raise CutError(f"{path}: no BF16 tensor {name}")
        n_heads, all_tokens, width = entry["shape"]
        if max(heads) >= n_heads or first + n_tokens > all_tokens:
            raise CutError(f"{path}: {name} has {n_heads} heads of "
                           f"{all_tokens} tokens, which is too few")
        row_bytes = width * BF16_BYTES
        parts = []
        for head in heads:
            token = head * all_tokens + first
            file.seek(data_begin + entry["data_offsets"][0]
                      + token * row_bytes)
            part = file.read(n_tokens * row_bytes)
            if len(part) != n_tokens * row_bytes:
                raise CutError(f"{path}: {name} ends too soon")
            parts.append(part)
    return [len(heads), n_tokens, width], b"".join(parts)


def pack(tensors, metadata):
    """Return the bytes of a safetensors file; header padded to 8 bytes."""
    header = {"__metadata__": metadata}
    end = 0
    for name, (shape, data) in tensors.items():
        header[name] = {"dtype": "BF16", "shape": shape,
                        "data_offsets": [end, end + len(data)]}
        end += len(data)
    text = json.dumps(header, separators=(",", ":")).encode("utf-8")
    text += b" " * (-len(text) % 8)
    return (len(text).to_bytes(8, "little") + text
            + b"".join(data for _, data in tensors.values()))


def describe(layer, source, first, n_tokens, query_heads, key_heads):
    """Return where a layer comes from, for the metadata."""
    return (f"layer{layer}: {source}.safetensors"
            f" query heads {' '.join(map(str, query_heads))}"
            f" key/value heads {' '.join(map(str, key_heads))}"
            f" tokens {first} to {first + n_tokens - 1}")


def cut_file(captured, causal, n_tokens, layers):
    """Return the bytes of one output file."""
    tensors = {}
    sources = []
    for layer, source, first, query_heads, key_heads, _ in layers:
        path = os.path.join(captured, source + ".safetensors")
        for kind, heads in (("q", query_heads), ("k", key_heads),
                            ("v", key_heads)):
            name = f"layer{layer}.{kind}"
            tensors[name] = cut_tensor(path, name, heads, first, n_tokens)
        sources.append(describe(layer, source, first, n_tokens, query_heads,
                                key_heads))
    return pack(tensors, {"causal": causal, "softmax_scale": SCALE,
                          "source": "; ".join(sources)})


def main(arguments):
    """Cut all files; return the exit status."""
    if len(arguments) != 2:
        print("usage: cut_heads.py CAPTURED_DIR OUT_DIR", file=sys.stderr)
        return 2
    captured, out = arguments
    try:
        for name, causal, n_tokens, layers in CUTS:
            data = cut_file(captured, causal, n_tokens, layers)
            with open(os.path.join(out, name + ".safetensors"), "wb") as file:
                file.write(data)
    except (CutError, OSError, ValueError) as error:
        print(f"cut_heads.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
