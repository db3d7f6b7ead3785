# SPDX-License-Identifier: MIT
"""What capture_sdpa keeps and refuses; run by torch.test after its model.py."""

import math

import flash_attn
import torch
from torch.nn.attention.bias import causal_lower_right
from torch.nn.functional import scaled_dot_product_attention as sdpa

import tensor_file
from attention_call import Refused
from capture_sdpa import Capture, Selection


def same(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and torch.equal(a, b)


def check_program():
    """The words are those that the program gave, its heads in their groups."""
    tensors, facts = tensor_file.read("heads.safetensors")
    kept = torch.load("kept.pt")
    assert len(tensors) == 6, list(tensors)
    for name in ("step1.layer0", "step1.layer2"):
        q, k, v = kept[name]
        assert same(tensors[name + ".q"], 3 * q[0, 2:6]), name
        assert same(tensors[name + ".k"], 3 * k[0]), name
        assert same(tensors[name + ".v"], v[0]), name
        assert q.dtype == torch.bfloat16, q.dtype
    assert facts["causal"] == "true" and facts["softmax_scale"] == "0.125", facts
    assert facts["source"].startswith("model.py, steps 1, layers 0,2, query heads 2:6,")


def heads(hq, hk, nq, nk, d=16, b=1, dtype=torch.bfloat16):
    return [
        torch.randn(b, h, n, d).to(dtype) for h, n in ((hq, nq), (hk, nk), (hk, nk))
    ]


def captured(call, **options):
    """Return the capture of one call, its mask and its sentence, if any."""
    capture = Capture(**options)
    with capture:
        call()
    assert capture.layer == 1, capture.layer
    return capture, capture.causal, " ".join(capture.problems)


def check_masks():
    q, k, v = heads(2, 2, 5, 9)
    square = heads(2, 2, 9, 9)
    lower = torch.ones(5, 9, dtype=torch.bool).tril(4)
    low = torch.finfo(torch.bfloat16).min
    bias = torch.zeros(1, 1, 5, 9, dtype=torch.bfloat16).masked_fill(~lower, low)
    for mask, causal in (
        (None, False), (lower, True), (bias, True), (causal_lower_right(5, 9), True),
        (torch.ones(1, 1, 1, 9, dtype=torch.bool), False), (bias * 0, False),
    ):  # fmt: skip
        found = captured(lambda: sdpa(q, k, v, attn_mask=mask))
        assert found[1:] == (causal, ""), (mask, found[1:])
    bottom = lambda: sdpa(q, k, v, attn_mask=causal_lower_right(5, 9))
    alone = bottom()
    with Capture():
        assert same(bottom(), alone)  # what is captured stays what it was
    assert captured(lambda: sdpa(*square, is_causal=True))[1:] == (True, "")
    one = captured(lambda: sdpa(q[:, :, :1], k, v))
    assert one[1:] == (None, ""), one[1:]  # as good as causal: one query
    for call, why in (
        (lambda: sdpa(q, k, v, is_causal=True), "is_causal with 5 queries and 9 keys"),
        (lambda: sdpa(q, k, v, attn_mask=lower.roll(1, 1)), "neither shows all keys"),
        (lambda: sdpa(q, k, v, attn_mask=bias.clamp(min=-2)), "other than 0"),
        (lambda: sdpa(q, k, v, dropout_p=0.5), "its dropout_p is 0.5"),
        (lambda: sdpa(q.double(), k.double(), v.double()), "torch.float64"),
    ):
        found, _, said = captured(call)
        assert why in said and not found.tensors, (why, said)
        assert said.startswith("step0.layer0 is left out: ")


def check_scale_and_heads():
    q, k, v = heads(6, 2, 4, 7, d=24, b=2, dtype=torch.float16)
    found = captured(lambda: sdpa(q, k, v, scale=0.3, enable_gqa=True), heads="0,3:4")[
        0
    ]
    assert found.scale == 0.3
    assert same(found.tensors["step0.layer0.batch1.q"], q[1, [0, 3]])
    assert same(found.tensors["step0.layer0.batch1.k"], k[1])
    found = captured(lambda: sdpa(q, k, v, enable_gqa=True), heads="4:6")[0]
    assert found.scale == 1 / math.sqrt(24) and same(
        found.tensors["step0.layer0.batch0.v"], v[0, 1:]
    )
    for asked, why in (("1:6", "choose as many of each"), ("6", "none of number 6")):
        said = captured(lambda: sdpa(q, k, v, enable_gqa=True), heads=asked)[2]
        assert why in said, said
    both = Capture()
    with both:
        sdpa(q, q, q)
        sdpa(q, q, q, scale=1.0)
        sdpa(q, q, q, is_causal=True)
    assert "softmax scale is 1.0" in both.problems[0], both.problems
    assert "causal is True" in both.problems[1] and len(both.tensors) == 6
    sdpa(q, q, q)
    assert both.layer == 3  # it left nothing behind


def check_autocast():
    """Kept is what the kernel gets, not what the function is given."""
    q = torch.randn(1, 2, 4, 16)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = captured(lambda: sdpa(q, q, q))[0]
    assert same(found.tensors["step0.layer0.q"], q[0].to(torch.bfloat16))
    assert found.tensors["step0.layer0.v"].dtype == torch.bfloat16


def check_flash():
    q, k, v = (t.transpose(1, 2) for t in heads(4, 2, 5, 9))
    call = lambda **more: flash_attn.flash_attn_func(q, k, v, causal=True, **more)
    found, causal, said = captured(call)
    assert causal and not said
    assert same(found.tensors["step0.layer0.q"], q[0].transpose(0, 1))
    assert same(found.tensors["step0.layer0.v"], v[0].transpose(0, 1))
    assert not captured(lambda: call(deterministic=True))[2]
    assert "its window_size is (4, 0)" in captured(lambda: call(window_size=(4, 0)))[2]
    assert "alibi_slopes is given" in captured(lambda: call(alibi_slopes=q))[2]
    ends = torch.tensor([0, 2, 5]), torch.tensor([0, 5, 9])
    varlen = lambda: flash_attn.flash_attn_varlen_func(
        q[0], k[0], v[0], *ends, 3, 5, softmax_scale=0.5, causal=True
    )
    found, causal, said = captured(varlen)
    assert causal and found.scale == 0.5 and not said
    assert same(found.tensors["step0.layer0.batch1.q"], q[0, 2:].transpose(0, 1))
    assert same(found.tensors["step0.layer0.batch0.k"], k[0, :5].transpose(0, 1))
    assert flash_attn.flash_attn_func.__name__ == "flash_attn_func"


def check_steps():
    t = heads(1, 1, 3, 3)[0]
    capture = Capture(steps="1", layers="1,5", calls_per_step=2)
    with capture:
        for _ in range(4):
            sdpa(t, t, t)
    assert list(capture.tensors) == [
        "step1.layer1.q",
        "step1.layer1.k",
        "step1.layer1.v",
    ]
    capture.save("steps.safetensors", "here")
    assert capture.problems == ["there is no layer 5"], capture.problems
    nothing = Capture(steps="3")
    with nothing:
        sdpa(t, t, t)
    try:
        nothing.save("nothing.safetensors", "here")
        raise AssertionError("saved nothing")
    except Refused as why:
        assert "1 steps of at most 1 calls were seen" in str(why), why
    with Capture() as module:  # no module of its own calls the function
        attention = torch.nn.MultiheadAttention(32, 2, batch_first=True).eval()
        with torch.no_grad():
            attention(*[torch.randn(1, 6, 32)] * 3, need_weights=False)
    assert module.tensors["step0.layer0.q"].shape == (2, 6, 16), module.tensors.keys()


def check_selections():
    for text, numbers in (("0,5", [0, 5]), ("1:4,9", [1, 2, 3, 9]), ("0:6:3", [0, 3])):
        assert [n for n in range(12) if n in Selection(text)] == numbers, text
    for text in ("", "a", "1,", "1:2:0", "1:2:3:4", "-1", "3:"):
        try:
            Selection(text)
            raise AssertionError(text)
        except ValueError:
            pass


check_program()
check_masks()
check_scale_and_heads()
check_autocast()
check_flash()
check_steps()
check_selections()
