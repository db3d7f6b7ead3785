# SPDX-License-Identifier: MIT
"""run_torch.py, served and for a case alone, beside attention in float64; run by
torch.test, with the path of run_torch.py."""

import json
import math
import subprocess
import sys

import torch

import tensor_file

RUNNER = [sys.executable, sys.argv[1], "--backend"]
CPU = ["--device", "cpu"]
FACTS = {"format": "assay-case", "version": "1", "recipe": "bf16", "run": "0",
         "softmax_form": "whole-sum"}  # fmt: skip


def write_case(name, hq, hk, nq, nk, causal, dtype=torch.bfloat16, **facts):
    """Write {in}; return its q, k, v."""
    torch.manual_seed(3)
    b, d, dv = 2, 40, 24
    sizes = {"q": (b, nq, hq, d), "k": (b, nk, hk, d), "v": (b, nk, hk, dv)}
    if name != "alone":
        sizes["v"] = (b, nk, hk, d)  # flash has one width
    tensors = {x: (2 * torch.randn(n)).to(dtype) for x, n in sizes.items()}
    told = {"case": name, "causal": causal, "softmax_scale": "%.17g" % 0.3}
    tensor_file.write(f"{name}.in", tensors, {**FACTS, **told, **facts})
    return tensors


def exact(t, causal):
    """Return o and lse in float64; each query sees as many keys more as those after
    it, the last all."""
    q, k, v = (t[x].to(torch.bfloat16).double().transpose(1, 2) for x in "qkv")
    ratio = q.shape[1] // k.shape[1]
    k, v = (x.repeat_interleave(ratio, 1) for x in (k, v))
    scores = 0.3 * q @ k.mT
    if causal:
        nq, nk = scores.shape[2:]
        last = torch.arange(nq)[:, None] + nk - nq
        scores = scores.masked_fill(torch.arange(nk)[None] > last, -math.inf)
    lse = scores.logsumexp(3)
    return ((scores - lse[..., None]).exp() @ v).transpose(1, 2), lse


def check_answer(name, tensors, causal, lse_is_told):
    """The answer is near: bf16 rounds P and O, and fast exp costs 1e-4."""
    found, facts = tensor_file.read(f"{name}.out")
    o, lse = exact(tensors, causal)
    assert found["o"].dtype == torch.bfloat16 and found["o"].shape == o.shape
    error = (found["o"].double() - o).norm() / o.norm()
    assert error < 5e-3, (name, error)
    assert facts["device"] and torch.__version__ in facts["build"], facts
    assert 0 < float(facts["seconds"]) < 60, facts
    assert lse_is_told in (None, "lse" in found), (name, list(found))
    if "lse" in found:
        assert found["lse"].shape == lse.shape, (found["lse"].shape, lse.shape)
        assert (found["lse"] - lse).abs().max() < 2e-4, (found["lse"] - lse).abs().max()
        split = "flash" in facts["kernel"] and facts["device"].startswith("NVIDIA")
        assert facts["softmax_form"] == ("whole-sum-split" if split else "whole-sum")
    return facts


def served(lines, *words):
    """Return the answers to lines."""
    done = subprocess.run(
        [*RUNNER, *words, "--serve"], input="\n".join(lines) + "\n", text=True,
        stdout=subprocess.PIPE, check=True,
    )  # fmt: skip
    return [json.loads(line) for line in done.stdout.splitlines()]


def check_served():
    """Lines for lines, in order, and none that ends it."""
    cases = {
        "square": (write_case("square", 4, 2, 33, 33, "true"), True),
        "more": (write_case("more", 4, 4, 20, 50, "true"), True),
        "bidir": (write_case("bidir", 6, 2, 31, 47, "false", torch.float32), False),
    }
    write_case("other", 2, 2, 4, 4, "true", recipe="mxfp4")
    write_case("later", 2, 2, 4, 4, "true", version="2")
    tensor_file.write("bare.in", {"q": torch.ones(2)}, FACTS)
    asked = [*cases, "other", "later", "bare", "absent"]
    lines = [json.dumps({"in": f"{x}.in", "out": f"{x}.out"}) for x in asked]
    lines += ["{", '{"in": "square.in"}', "3"]
    said = served(lines, "flash", *CPU)
    assert len(said) == len(lines), said
    for answer, (status, reason) in zip(said, [
        *[("ok", "")] * 3,
        ("unsupported", "the recipe is mxfp4"),
        ("failed", "do not say format assay-case, version 1"),
        ("failed", "bare.in: has no tensor k"),
        ("failed", "absent.in"),
        *[("failed", "not a line with in and out")] * 3,
    ]):  # fmt: skip
        assert answer["status"] == status, (answer, status)
        assert reason in answer.get("reason", ""), (answer, reason)
    for name, (tensors, causal) in cases.items():
        facts = check_answer(name, tensors, causal, lse_is_told=True)
        assert facts["kernel"] == "sdpa.flash", facts


def check_alone():
    """Exit status and last line on stderr."""
    case = write_case("alone", 2, 1, 30, 60, "true", torch.float16)
    run = lambda *words: subprocess.run(
        [*RUNNER, *words, *CPU], text=True, capture_output=True
    )
    done = run("math", "alone.in", "alone.out")
    assert done.returncode == 0 and not done.stdout, (done.returncode, done.stderr)
    assert "softmax_form" not in check_answer("alone", case, True, lse_is_told=False)
    done = run("efficient", "alone.in", "none.out")
    assert done.returncode == 77, (done.returncode, done.stderr)
    last = done.stderr.splitlines()[-1]
    assert last.startswith("run_torch.py: no efficient kernel: "), last
    done = run("math", "absent.in", "none.out")
    assert done.returncode == 1 and "absent.in" in done.stderr.splitlines()[-1]


def check_gpu():
    """Back ends differ in what they take; what they give must be near."""
    cases = {
        "square": (write_case("square", 4, 2, 96, 96, "true"), True),
        "bidir": (write_case("bidir", 6, 2, 90, 130, "false"), False),
        "more": (write_case("more", 4, 4, 40, 80, "true"), True),
    }
    lines = [json.dumps({"in": f"{x}.in", "out": f"{x}.out"}) for x in cases]
    for backend in ("math", "flash", "efficient", "cudnn"):
        said = served(lines, backend, "--device", "cuda")
        for (name, (tensors, causal)), answer in zip(cases.items(), said):
            print(backend, name, answer)
            must = backend != "cudnn" and (backend, name) != ("flash", "more")
            assert answer["status"] == "ok" or not must
            if answer["status"] == "ok":
                told = backend != "math" if must else None
                facts = check_answer(name, tensors, causal, told)
                print(" ", facts)


check_served()
check_alone()
if torch.cuda.is_available():
    check_gpu()
