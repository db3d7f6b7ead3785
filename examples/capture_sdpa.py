#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Capture attention heads of a PyTorch program for `assay generate`.

    python3 capture_sdpa.py --layers 0,5 -o heads.safetensors -- train.py --small
    assay generate heads.safetensors -o set.h5

Calls of torch.nn.functional.scaled_dot_product_attention and, where installed, of
flash_attn_func and flash_attn_varlen_func are counted. A step is a call of an
outermost torch.nn.Module; the calls of attention in it are its layers, from 0. What
is kept is what the kernel gets, after autocast. In a program of one's own:

    with Capture(layers="0,5") as capture:
        model(x)
    capture.save("heads.safetensors", "my model")
"""

from __future__ import annotations

import argparse
import functools
import importlib
import inspect
import os
import runpy
import sys

try:
    import torch
except ImportError as missing:
    print(f"capture_sdpa.py: needs PyTorch, and {sys.executable} says: {missing}",
          file=sys.stderr)  # fmt: skip
    sys.exit(77)  # nothing can run here
from torch.nn import functional
from torch.nn.modules import module as modules
from torch.overrides import TorchFunctionMode

import attention_call
import tensor_file
from attention_call import Call, Refused

SDPA = functional.scaled_dot_product_attention
FLASH_MODULES = (
    "flash_attn",
    "flash_attn.flash_attn_interface",
    "flash_attn_interface",
)
FLASH_FUNCTIONS = ("flash_attn_func", "flash_attn_varlen_func")


class Selection:
    """Numbers written as "all", "0,5", "0:8" or "0:8:2,9"."""

    def __init__(self, text: str):
        self.text = text
        self.numbers: set[int] | None = None if text == "all" else set()
        for part in text.split(",") if text != "all" else ():
            first, *rest = part.split(":")
            if len(rest) > 2 or not all(x.isdecimal() for x in [first, *rest]):
                raise ValueError(
                    f'"{part}" of "{text}" is no number and no range like 0:4'
                )
            numbers = [int(first), *map(int, rest)]
            if len(numbers) == 3 and numbers[2] == 0:
                raise ValueError(f'"{part}" has a step of 0')
            self.numbers.update(range(*numbers) if rest else numbers)

    def __contains__(self, number: int) -> bool:
        return self.numbers is None or number in self.numbers

    def beyond(self, count: int) -> list[int]:
        """Return the numbers that are not below `count`."""
        return sorted(n for n in self.numbers or () if n >= count)


class Capture(TorchFunctionMode):
    """Keeps q, k and v of chosen steps, layers and query heads while entered."""

    def __init__(self, layers="all", steps="0", heads="all", calls_per_step=0):
        super().__init__()
        self.layers, self.steps = Selection(layers), Selection(steps)
        self.heads, self.calls_per_step = Selection(heads), calls_per_step
        self.tensors: dict[str, torch.Tensor] = {}
        self.causal: bool | None = None  # of all that is kept; None: not known yet
        self.scale: float | None = None
        self.problems: list[str] = []
        self.step = self.layer = self.most_layers = self.depth = 0
        self.inside = False  # a function that is counted may use another
        self.undo: list = []
        self._sdpa = self._counted(SDPA, attention_call.of_sdpa)

    def __enter__(self):
        self.undo = [
            modules.register_module_forward_pre_hook(self._begin).remove,
            modules.register_module_forward_hook(self._end, always_call=True).remove,
        ]
        fast = torch.backends.mha.get_fastpath_enabled()
        torch.backends.mha.set_fastpath_enabled(False)  # it goes round the function
        self.undo.append(lambda: torch.backends.mha.set_fastpath_enabled(fast))
        for name in FLASH_MODULES:
            try:
                found = importlib.import_module(name)
            except ImportError:
                continue
            for function in filter(lambda f: hasattr(found, f), FLASH_FUNCTIONS):
                real = getattr(found, function)
                read = functools.partial(
                    attention_call.of_flash, inspect.signature(real)
                )
                setattr(found, function, self._counted(real, read))
                self.undo.append(functools.partial(setattr, found, function, real))
        return super().__enter__()

    def __exit__(self, *why):
        while self.undo:
            self.undo.pop()()
        return super().__exit__(*why)

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func is functional.multi_head_attention_forward:
            # a mode does not see the calls of what it calls
            functional.scaled_dot_product_attention = self._sdpa
            try:
                return func(*args, **kwargs)
            finally:
                functional.scaled_dot_product_attention = SDPA
        return (self._sdpa if func is SDPA else func)(*args, **kwargs)

    def _counted(self, real, read):
        """Return a function that is `real` and counts its calls."""

        def seen(*args, **kwargs):
            if self.inside:
                return real(*args, **kwargs)
            self._count(lambda: read(*args, **kwargs))
            self.inside = True
            try:
                return real(*args, **kwargs)
            finally:
                self.inside = False

        return seen

    # ---- steps and layers ----

    def _begin(self, module, inputs) -> None:
        if self.depth == 0 and not self.calls_per_step:
            self.next_step()
        self.depth += 1

    def _end(self, module, inputs, output) -> None:
        self.depth -= 1

    def next_step(self) -> None:
        """Begin a step, unless nothing was called in this one."""
        if self.layer > 0:
            self.step, self.layer = self.step + 1, 0

    def _count(self, read) -> None:
        if self.calls_per_step and self.layer == self.calls_per_step:
            self.next_step()
        name = f"step{self.step}.layer{self.layer}"
        chosen = self.step in self.steps and self.layer in self.layers
        self.layer += 1
        self.most_layers = max(self.most_layers, self.layer)
        if not chosen:
            return
        try:
            with torch.no_grad():
                calls = read()
                one = len(calls) == 1 and calls[0].q.shape[0] == 1
                number = 0
                for call in calls:
                    for b in range(call.q.shape[0]):
                        self._keep(name if one else f"{name}.batch{number}", call, b)
                        number += 1
        except Refused as why:
            self.problems.append(f"{name} is left out: {why}")

    # ---- heads ----

    def _keep(self, name: str, call: Call, b: int) -> None:
        heads, groups = self._choose(call)
        # with one query a causal mask hides nothing
        causal = self.causal if call.q.shape[2] == 1 else call.causal
        for what, mine, kept in (
            ("causal", causal, self.causal),
            ("softmax scale", call.scale, self.scale),
        ):
            if kept is not None and mine != kept:
                raise Refused(
                    f"its {what} is {mine} and that of the heads before it {kept}, "
                    "and a file has one: choose its layer or step alone"
                )
        self.causal, self.scale = causal, call.scale
        for part, t, chosen in (
            ("q", call.q, heads), ("k", call.k, groups), ("v", call.v, groups),
        ):  # fmt: skip
            self.tensors[f"{name}.{part}"] = t[b, chosen].detach().to("cpu")

    def _choose(self, call: Call) -> tuple[list[int], list[int]]:
        """Return the chosen query heads, and the key/value heads they share."""
        count, ratio = call.q.shape[1], call.q.shape[1] // call.k.shape[1]
        if beyond := self.heads.beyond(count):
            raise Refused(f"it has {count} query heads and none of number {beyond[0]}")
        heads = [h for h in range(count) if h in self.heads]
        groups = sorted({h // ratio for h in heads})
        sizes = [sum(h // ratio == g for h in heads) for g in groups]
        if len(set(sizes)) > 1:
            raise Refused(
                f"heads {self.heads.text} take {sizes[0]} query heads of key head "
                f"{groups[0]} and others of the next: choose as many of each"
            )
        return heads, groups

    def save(self, path: str, source: str) -> None:
        """Write what was kept; `source` is where the heads are from."""
        if not self.tensors:
            raise Refused(
                f"nothing was captured: steps {self.steps.text} and layers "
                f"{self.layers.text} are chosen, {self.step + (self.layer > 0)} steps "
                f"of at most {self.most_layers} calls were seen"
            )
        if missing := self.layers.beyond(self.most_layers):
            self.problems.append(f"there is no layer {missing[0]}")
        if missing := self.steps.beyond(self.step + (self.layer > 0)):
            self.problems.append(f"there is no step {missing[0]}")
        metadata = {
            "causal": "true" if self.causal else "false",
            "softmax_scale": repr(self.scale),
            "source": f"{source}, steps {self.steps.text}, layers {self.layers.text}, "
            f"query heads {self.heads.text}, PyTorch {torch.__version__}",
        }
        tensor_file.write(path, self.tensors, metadata)


def arguments() -> argparse.Namespace:
    """Return the command line; the program to run is in `program`."""
    p = argparse.ArgumentParser(
        usage="%(prog)s [option...] -o FILE -- PROGRAM.py|-m MODULE [argument...]",
        description="Capture attention heads of a PyTorch program.",
    )
    p.add_argument("--layers", default="all", help='calls in a step: "0,5", "0:6:2"')
    p.add_argument("--steps", default="0", help="numbers of steps, or all; default 0")
    p.add_argument("--heads", default="all", help="query heads")
    p.add_argument("--calls-per-step", type=int, default=0, metavar="N",
                   help="where no single module makes a step")  # fmt: skip
    p.add_argument("-o", "--output", required=True, metavar="FILE")
    p.add_argument("program", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    a = p.parse_args()
    a.program = a.program[1:] if a.program[:1] == ["--"] else a.program
    if not a.program or a.program == ["-m"]:
        p.error("no program named")
    return a


def run(program: list[str]) -> None:
    """Run a script, or with -m a module, as python3 does."""
    sys.argv = program[1:] if program[0] == "-m" else program
    if program[0] == "-m":
        sys.path[0] = os.getcwd()
        runpy.run_module(program[1], run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = os.path.dirname(os.path.abspath(program[0]))
        runpy.run_path(program[0], run_name="__main__")


def main() -> int:
    """Capture and save, also where the program ends early; return its status."""
    a = arguments()
    os.environ["TORCH_COMPILE_DISABLE"] = "1"
    try:
        capture = Capture(a.layers, a.steps, a.heads, a.calls_per_step)
    except ValueError as why:
        print(f"capture_sdpa.py: {why}", file=sys.stderr)
        return 2
    status = 0
    try:
        with capture:
            run(a.program)
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    finally:
        try:
            name = a.program[1] if a.program[0] == "-m" else a.program[0]
            capture.save(a.output, os.path.basename(name))
        except (Refused, OSError) as why:
            capture.problems.append(str(why))
        for problem in capture.problems:
            print(f"capture_sdpa.py: {problem}", file=sys.stderr)
    return status or int(bool(capture.problems))


if __name__ == "__main__":
    sys.exit(main())
