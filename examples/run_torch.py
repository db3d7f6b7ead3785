#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Run PyTorch's scaled_dot_product_attention for `assay validate`.

    assay validate set.h5 --exec 'python3 run_torch.py --backend flash {in} {out}'
    assay validate set.h5 --serve 'python3 run_torch.py --backend flash --serve'

One case: reads q, k, v of {in}, writes o, and lse where the back end has one, to
{out}; exit status 0, or 77 with the reason on stderr where the back end cannot run it
or there is no PyTorch.
With --serve: a line {"in": path, "out": path} of stdin for each case, and a line
{"status": "ok" | "unsupported" | "failed", "reason": text} of stdout for each.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
import warnings

try:
    import torch
except ImportError as missing:
    print(f"run_torch.py: needs PyTorch, and {sys.executable} says: {missing}",
          file=sys.stderr)  # fmt: skip
    sys.exit(77)  # nothing can run here
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import pad, scaled_dot_product_attention

import tensor_file

BACKENDS = {
    "math": SDPBackend.MATH,
    "flash": SDPBackend.FLASH_ATTENTION,
    "efficient": SDPBackend.EFFICIENT_ATTENTION,
    "cudnn": SDPBackend.CUDNN_ATTENTION,
}
OK, FAILED, UNSUPPORTED = 0, 1, 77
NO_KERNEL = ("No available kernel", "No viable backend")  # on a GPU, on a CPU
aten = torch.ops.aten


class Unsupported(Exception):
    """The back end cannot run this case; one sentence."""


class Case:
    """A case of {in}: q [b, hq, nq, dk], k, v, mask and scale, on the device."""

    def __init__(self, path: str, device: str, recipe: str):
        tensors, facts = tensor_file.read(path)
        if (facts.get("format"), facts.get("version")) != ("assay-case", "1"):
            raise tensor_file.FormatError(
                f"{path}: the metadata do not say format assay-case, version 1"
            )
        if absent := [x for x in "qkv" if x not in tensors]:
            raise tensor_file.FormatError(f"{path}: has no tensor {absent[0]}")
        if facts["recipe"] != recipe:
            raise Unsupported(
                f"the recipe is {facts['recipe']}, and what runs is {recipe} (--recipe)"
            )
        self.q, self.k, self.v = (
            tensors[x].to(device, torch.bfloat16).transpose(1, 2) for x in "qkv"
        )
        self.scale = float(facts["softmax_scale"])
        queries, keys = self.q.shape[2], self.k.shape[2]
        causal = facts["causal"] == "true"
        # is_causal puts the first query at the first key, a case the last at the last
        self.is_causal = causal and queries == keys
        self.mask = None
        if causal and queries != keys:
            visible = torch.ones(queries, keys, dtype=torch.bool, device=device)
            self.mask = visible.tril(keys - queries)

    def grouped(self) -> bool:
        """Return whether query heads share heads of k and v."""
        return self.q.shape[1] != self.k.shape[1]

    def repeat(self) -> None:
        """Give k and v a head for every query head."""
        ratio = self.q.shape[1] // self.k.shape[1]
        self.k, self.v = (t.repeat_interleave(ratio, dim=1) for t in (self.k, self.v))

    def bias(self) -> torch.Tensor | None:
        """Return the mask as numbers to add, rows of whole 16 elements."""
        if self.mask is None:
            return None
        queries, keys = self.mask.shape
        wide = torch.zeros(
            queries, -(-keys // 16) * 16, dtype=self.q.dtype, device=self.q.device
        )
        narrow = wide[:, :keys].masked_fill_(~self.mask, float("-inf"))
        return narrow.expand(self.q.shape[0], self.q.shape[1], queries, keys)


def attend(case: Case, backend: str) -> torch.Tensor:
    """Return o [b, hq, nq, dv] of one back end and no other."""
    with warnings.catch_warnings(record=True) as said, sdpa_kernel(BACKENDS[backend]):
        warnings.simplefilter("always")
        try:
            return scaled_dot_product_attention(
                case.q, case.k, case.v, attn_mask=case.mask, is_causal=case.is_causal,
                scale=case.scale, enable_gqa=case.grouped(),
            )  # fmt: skip
        except RuntimeError as error:
            if not any(x in str(error) for x in NO_KERNEL):
                raise
            why = [str(w.message).split(" (Triggered")[0] for w in said]
            raise Unsupported(
                f"no {backend} kernel: {' '.join(why) or error}"
            ) from error


def lse_of(case: Case, backend: str) -> tuple[torch.Tensor, torch.Tensor] | None:
    """Return o and lse [b, hq, nq] of the operator that the back end stands for, or
    None where it has no lse. The operators are PyTorch's own, without its promise."""
    q, k, v = case.q, case.k, case.v
    if backend == "flash" and q.is_cuda:
        rest = -q.shape[3] % 8  # the function pads likewise
        q, k, v = (pad(t, (0, rest)) for t in (q, k, v))
        found = aten._scaled_dot_product_flash_attention(
            q, k, v, 0.0, case.is_causal, scale=case.scale
        )
    elif backend == "flash":
        found = aten._scaled_dot_product_flash_attention_for_cpu(
            q, k, v, 0.0, case.is_causal, attn_mask=case.bias(), scale=case.scale
        )
    elif backend == "efficient":
        found = aten._scaled_dot_product_efficient_attention(
            q, k, v, case.bias(), True, 0.0, case.is_causal, scale=case.scale
        )
    elif backend == "cudnn":
        found = aten._scaled_dot_product_cudnn_attention(
            q, k, v, case.bias(), True, 0.0, case.is_causal, scale=case.scale
        )
    else:
        return None
    o, lse = found[:2]
    if lse.dim() == 4:
        lse = lse.squeeze(-1)
    return o[..., : case.v.shape[3]], lse[..., : q.shape[2]]


def words(o: torch.Tensor) -> torch.Tensor:
    """Return the words of o, of which NaN is equal to itself."""
    return o.contiguous().view(torch.int16)


def attend_any(case: Case, backend: str) -> torch.Tensor:
    """Return o; k and v are repeated where the back end takes no groups, which is what
    programs do then."""
    try:
        return attend(case, backend)
    except Unsupported:
        if not case.grouped():
            raise
    case.repeat()
    return attend(case, backend)


def timed(case: Case, backend: str) -> tuple[torch.Tensor, float]:
    """Return o and the seconds of the kernel, on a GPU those of a second run."""
    if not case.q.is_cuda:
        begin = time.perf_counter()
        o = attend_any(case, backend)
        return o, time.perf_counter() - begin
    attend_any(case, backend)
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    o = attend(case, backend)
    end.record()
    end.synchronize()
    return o, begin.elapsed_time(end) / 1e3


def device_name(device: str) -> str:
    """Return the name of the GPU or the processor."""
    if device.startswith("cuda"):
        return torch.cuda.get_device_name(device)
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            names = [
                line.split(":")[1].strip() for line in file if "model name" in line
            ]
        return names[0]
    except (OSError, IndexError):
        return platform.machine()


def run(path: str, out: str, backend: str, device: str, recipe: str) -> None:
    """Run one case from file to file."""
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise Unsupported(f"PyTorch {torch.__version__} finds no GPU")
    case = Case(path, device, recipe)
    grouped = case.grouped()
    o, seconds = timed(case, backend)
    tensors = {"o": o.transpose(1, 2)}
    try:
        both = lse_of(case, backend)
    except (RuntimeError, TypeError) as error:
        both = None
        print(f"run_torch.py: no lse of {backend}: {error}", file=sys.stderr)
    if both and torch.equal(words(both[0]), words(o)):
        tensors["lse"] = both[1]
    elif both:
        print(f"run_torch.py: lse left out, {backend} gave another o with it",
              file=sys.stderr)  # fmt: skip
    build = f"PyTorch {torch.__version__} {torch.version.git_version or ''}".strip()
    if torch.version.cuda and device.startswith("cuda"):
        build += f", CUDA {torch.version.cuda}, cuDNN {torch.backends.cudnn.version()}"
    if grouped and not case.grouped():
        build += ", heads of k and v repeated"
    facts = {
        "kernel": f"sdpa.{backend}",
        "device": device_name(device),
        "build": build,
        "seconds": repr(seconds),
    }
    if backend != "math":  # that one does not round P, which is no softmax form
        # flash on a GPU walks keys backwards, in parts where queries are few
        split = backend == "flash" and device.startswith("cuda")
        facts["softmax_form"] = "whole-sum-split" if split else "whole-sum"
    tensor_file.write(out, tensors, facts)


def outcome(
    path: str, out: str, backend: str, device: str, recipe: str
) -> tuple[int, str]:
    """Run one case; return OK, UNSUPPORTED or FAILED, and why."""
    try:
        run(path, out, backend, device, recipe)
        return OK, ""
    except Unsupported as why:
        return UNSUPPORTED, " ".join(str(why).split())  # the reason is one line
    except (tensor_file.FormatError, OSError) as why:
        return FAILED, str(why)
    except Exception as error:  # whatever PyTorch throws is evidence, not our end
        return FAILED, f"{type(error).__name__}: {error}"


def serve(backend: str, device: str, recipe: str) -> int:
    """Answer a line for a line until stdin ends."""
    names = {OK: "ok", UNSUPPORTED: "unsupported", FAILED: "failed"}
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a library prints must not be taken for an answer
    for line in sys.stdin:
        try:
            asked = json.loads(line)
            status, why = outcome(
                asked["in"], asked["out"], backend, device, recipe
            )
        except (ValueError, KeyError, TypeError) as error:
            status, why = FAILED, f"not a line with in and out: {error}"
        answer = {"status": names[status], **({"reason": why} if why else {})}
        print(json.dumps(answer), file=answers, flush=True)
    return OK


def main() -> int:
    """Run one case, or serve many."""
    p = argparse.ArgumentParser(description="Run PyTorch's SDPA for assay validate.")
    p.add_argument("--backend", choices=BACKENDS, default="math")
    p.add_argument("--device", help="cpu or cuda[:N]; default cuda where there is one")
    p.add_argument("--recipe", default="bf16",
                   help="of bf16 inputs, whose arithmetic it is; default bf16")  # fmt: skip
    p.add_argument("--threads", type=int, help="on a CPU")
    p.add_argument("--serve", action="store_true", help="many cases, told on stdin")
    p.add_argument("files", nargs="*", metavar="IN OUT")
    a = p.parse_args()
    if len(a.files) != (0 if a.serve else 2):
        p.error(
            "--serve takes no files" if a.serve else "names of two files are needed"
        )
    device = a.device or ("cuda" if torch.cuda.is_available() else "cpu")
    if a.threads:
        torch.set_num_threads(a.threads)
    if a.serve:
        return serve(a.backend, device, a.recipe)
    status, why = outcome(*a.files, a.backend, device, a.recipe)
    if why:
        print(f"run_torch.py: {why}", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
