# SPDX-License-Identifier: MIT
"""What a call of attention in PyTorch says: q, k, v, mask and softmax scale, in the
terms of captured heads, or a sentence why these cannot tell it."""

from __future__ import annotations

import inspect
import math
from typing import NamedTuple

import torch
from torch.nn.attention.bias import CausalBias

# What changes no answer of flash_attn_func; all else must be as by default.
HARMLESS = {
    "deterministic", "return_attn_probs", "return_softmax", "return_softmax_lse",
    "num_splits", "pack_gqa", "sm_margin",
}  # fmt: skip
TOLD = {"q", "k", "v", "softmax_scale", "causal"}
VARLEN = {"cu_seqlens_q", "cu_seqlens_k", "max_seqlen_q", "max_seqlen_k"}
TYPES = (torch.bfloat16, torch.float16, torch.float32)


class Refused(Exception):
    """Captured heads cannot tell this call; one sentence."""


class Call(NamedTuple):
    """q [b, hq, nq, dk], k [b, hk, nk, dk], v [b, hk, nk, dv]."""

    q: torch.Tensor
    k: torch.Tensor
    v: torch.Tensor
    causal: bool  # the last query sees all keys, each before it one less
    scale: float


def _call(q, k, v, causal: bool, scale: float | None) -> Call:
    if q.dtype not in TYPES or k.dtype != q.dtype or v.dtype != q.dtype:
        raise Refused(
            f"q, k and v are {q.dtype}, {k.dtype} and {v.dtype}, not all of one of "
            "bfloat16, float16 and float32"
        )
    if k.shape[0] != q.shape[0] or v.shape[0] != q.shape[0] or q.shape[1] % k.shape[1]:
        raise Refused(
            f"q {list(q.shape)}, k {list(k.shape)} and v {list(v.shape)} have batches or "
            "heads that do not fit"
        )
    if scale is None:
        scale = 1 / math.sqrt(q.shape[-1])
    return Call(q, k, v, causal, float(scale))


def _told_mask(mask: torch.Tensor, queries: int, keys: int) -> bool:
    """Return whether a mask is causal; False if it hides nothing."""
    if isinstance(mask, CausalBias):
        mask = mask._materialize()
    if mask.dtype == torch.bool:
        visible = mask
    else:
        visible = mask == 0
        hidden = mask <= max(torch.finfo(mask.dtype).min, -1e30)
        if not bool((visible | hidden).all()):
            raise Refused("its attn_mask has values other than 0 and the lowest")
    if bool(visible.all()):
        return False
    causal = torch.ones(queries, keys, dtype=torch.bool, device=mask.device)
    if bool((visible == causal.tril(keys - queries)).all()):
        return True
    raise Refused(
        "its attn_mask neither shows all keys nor is causal with the last query at the "
        "last key"
    )


def _is_causal(mask, is_causal: bool, queries: int, keys: int) -> bool:
    if mask is not None and is_causal:
        raise Refused("it has both attn_mask and is_causal")
    if mask is not None:
        return _told_mask(mask, queries, keys)
    if is_causal and queries != keys:
        raise Refused(
            f"is_causal with {queries} queries and {keys} keys puts the first query at "
            "the first key, and captured heads have the last at the last"
        )
    return is_causal


def _autocast(tensors: list) -> list:
    """Return the tensors in the type that autocast gives the kernel."""
    kind = tensors[0].device.type
    if not torch.is_autocast_enabled(kind):
        return tensors
    to = torch.get_autocast_dtype(kind)
    return [t.to(to) if t.is_floating_point() and t.dtype != torch.float64 else t
            for t in tensors]  # fmt: skip


def of_sdpa(
    query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None,
    enable_gqa=False,
) -> list[Call]:  # fmt: skip
    """Read a call of torch.nn.functional.scaled_dot_product_attention."""
    if dropout_p > 0:
        raise Refused(f"its dropout_p is {dropout_p}")
    if any(t.is_nested for t in (query, key, value)):
        raise Refused("its tensors are nested")
    if query.dim() not in (3, 4) or not query.dim() == key.dim() == value.dim():
        raise Refused(
            f"its tensors have {query.dim()}, {key.dim()} and {value.dim()} axes, not "
            "all 3 or 4"
        )
    causal = _is_causal(attn_mask, is_causal, query.shape[-2], key.shape[-2])
    parts = [t if t.dim() == 4 else t[None] for t in _autocast([query, key, value])]
    return [_call(*parts, causal, scale)]


def of_flash(signature: inspect.Signature, *args, **kwargs) -> list[Call]:
    """Read a call of flash_attn_func or flash_attn_varlen_func: one for the batch, or
    one for each sequence. Names of arguments decide, their order differs."""
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    a = bound.arguments
    for name, value in a.items():
        default = signature.parameters[name].default
        if name in TOLD | VARLEN | HARMLESS or value is default:
            continue
        if isinstance(value, torch.Tensor) or value != default:
            shown = "given" if isinstance(value, torch.Tensor) else value
            raise Refused(f"its {name} is {shown}, which captured heads cannot tell")
    told = bool(a["causal"]), a["softmax_scale"]
    if "cu_seqlens_q" not in a:
        return [_call(*(a[x].transpose(1, 2) for x in "qkv"), *told)]
    calls = []
    ends_q, ends_k = a["cu_seqlens_q"].tolist(), a["cu_seqlens_k"].tolist()
    for i in range(len(ends_q) - 1):
        q = a["q"][ends_q[i] : ends_q[i + 1]]
        k, v = (a[x][ends_k[i] : ends_k[i + 1]] for x in "kv")
        calls.append(_call(*(t.transpose(0, 1)[None] for t in (q, k, v)), *told))
    return calls
