# SPDX-License-Identifier: MIT
"""Read and write safetensors files of torch tensors; needs torch alone.

The format: 8 bytes N (little-endian), N bytes of JSON with name -> dtype, shape,
data_offsets, then the data without holes.
https://github.com/huggingface/safetensors, "Format" in README.md.
"""

from __future__ import annotations

import ctypes
import json
import os

import torch

DTYPES = {
    "F64": torch.float64,
    "F32": torch.float32,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
}
NAMES = {dtype: name for name, dtype in DTYPES.items()}
MAX_HEADER = 100_000_000


class FormatError(Exception):
    """A file is not what it should be; the message is one sentence."""


def read(path: str) -> tuple[dict[str, torch.Tensor], dict[str, str]]:
    """Return the tensors by name, and the metadata."""
    with open(path, "rb") as file:
        size = int.from_bytes(file.read(8), "little")
        if not 2 <= size <= MAX_HEADER:
            raise FormatError(f"{path}: a header of {size} bytes is no safetensors")
        try:
            header = json.loads(file.read(size))
        except ValueError as error:
            raise FormatError(f"{path}: the header is no JSON: {error}") from error
        data = bytearray(file.read())
    metadata = header.pop("__metadata__", {})
    return {name: _tensor(path, name, e, data) for name, e in header.items()}, metadata


def _tensor(path: str, name: str, entry: dict, data: bytearray) -> torch.Tensor:
    dtype = DTYPES.get(entry["dtype"])
    if dtype is None:
        raise FormatError(
            f"{path}: {name} is {entry['dtype']}, known are {', '.join(DTYPES)}"
        )
    begin, end = entry["data_offsets"]
    count = 1
    for extent in entry["shape"]:
        count *= extent
    if not 0 <= begin <= end <= len(data) or end - begin != count * dtype.itemsize:
        raise FormatError(
            f"{path}: {name} {entry['shape']} {entry['dtype']} does not fit bytes "
            f"{begin} to {end} of {len(data)}"
        )
    if count == 0:
        return torch.empty(entry["shape"], dtype=dtype)
    flat = torch.frombuffer(data, dtype=dtype, count=count, offset=begin)
    return flat.reshape(entry["shape"])


def write(
    path: str, tensors: dict[str, torch.Tensor], metadata: dict[str, str]
) -> None:
    """Write tensors of any device; the file takes its name when it is whole."""
    header: dict = {"__metadata__": metadata}
    flat = {name: t.detach().cpu().contiguous() for name, t in tensors.items()}
    end = 0
    for name, t in flat.items():
        begin, end = end, end + t.numel() * t.element_size()
        header[name] = {
            "dtype": NAMES[t.dtype],
            "shape": list(t.shape),
            "data_offsets": [begin, end],
        }
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    whole = f"{path}.{os.getpid()}.tmp"
    try:
        with open(whole, "wb") as file:
            file.write(len(text).to_bytes(8, "little") + text)
            for t in flat.values():
                # no numpy: it has no bf16, and need not be there
                size = t.numel() * t.element_size()
                if size:
                    file.write((ctypes.c_char * size).from_address(t.data_ptr()))
        os.replace(whole, path)
    except BaseException:
        if os.path.exists(whole):
            os.unlink(whole)
        raise
