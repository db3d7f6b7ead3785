#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Read a golden set with h5py and numpy, and hold an answer of one's own against it.

    python3 read_golden.py set.h5
    python3 read_golden.py set.h5 --case lm.layer0 --recipe bf16 --compare o.npy --lse l.npy

The first lists cases and recipes, and checks the hashes if xxhash is installed. The
second prints distances: o.npy is [batch, query, head, channel], l.npy [batch, head,
query] in nats. As a module: Golden(path).case(name) has the arrays.
"""

from __future__ import annotations

import argparse
import signal
import sys

try:
    import h5py
    import numpy as np
except ImportError as missing:
    sys.exit(
        f"read_golden.py: needs h5py and numpy, and {sys.executable} says: {missing}"
    )
try:
    import xxhash
except ImportError:
    xxhash = None

# bits of exponent and mantissa, bias, codes at the top that are no finite numbers
CODES = {
    "e5m2": (5, 2, 15, "ieee"),
    "e4m3fn": (4, 3, 7, "nan"),
    "e3m2": (3, 2, 3, "finite"),
    "e2m3": (2, 3, 1, "finite"),
    "e2m1": (2, 1, 1, "finite"),
}
OUTPUT_ULPS = 1.5  # what rounding the output may cost: half, and one for truncation
BF16_BITS = 7


def code_values(name: str) -> np.ndarray:
    """Return the value of each code of an 8, 6 or 4-bit format, a code a byte."""
    exponents, mantissas, bias, top = CODES[name]
    code = np.arange(2 ** (1 + exponents + mantissas))
    exponent = code >> mantissas & (2**exponents - 1)
    fraction = (code & (2**mantissas - 1)) / 2.0**mantissas
    value = np.where(
        exponent > 0,
        np.ldexp(1 + fraction, exponent - bias),
        np.ldexp(fraction, 1 - bias),
    )
    last = exponent == 2**exponents - 1
    if top == "ieee":
        value[last] = np.where(fraction[last] == 0, np.inf, np.nan)
    elif top == "nan":
        value[last & (fraction == fraction.max())] = np.nan
    return np.where(code >> (exponents + mantissas), -value, value).astype("f4")


def values(data: h5py.Dataset) -> np.ndarray:
    """Return a dataset as numbers: words and codes decoded by its attribute `format`,
    E8M0 scales as powers of two, other arrays as they are."""
    stored = data[()]
    kind = text(data.attrs.get("format", b""))
    if kind == "bf16":
        return (stored.astype("u4") << 16).view("f4")
    if kind == "f16":
        return stored.view("f2").astype("f4")
    if kind in CODES:
        return code_values(kind)[stored]
    if kind == "int8":
        return stored.view("i1").astype("f4")
    if kind in ("block", "block-tokens"):
        return np.where(stored == 255, np.nan, np.ldexp(1.0, stored.astype("i4") - 127))
    return stored


def text(attribute) -> str:
    """Return a text attribute, which h5py gives as bytes."""
    return attribute.decode() if isinstance(attribute, bytes) else str(attribute)


class Golden:
    """A golden set, open for reading."""

    def __init__(self, path: str):
        try:
            self.file = h5py.File(path, "r")
        except OSError as why:
            raise ValueError(f"{path} cannot be read as HDF5: {why}") from why
        if text(self.file.attrs.get("format", b"")) != "assay-golden":
            raise ValueError(f"{path} is no golden set")

    def names(self) -> list[str]:
        """Return the names of the cases."""
        return list(self.file["cases"])

    def case(self, name: str) -> h5py.Group:
        """Return a case; see "Golden set" in HACKING.md for what is in it."""
        if name not in self.file["cases"]:
            raise ValueError(f"no case {name}; there are {', '.join(self.names())}")
        return self.file["cases"][name]

    def recipe(self, case: str, name: str) -> h5py.Group:
        """Return a recipe of a case: payloads, scales, emulated answer, jitter."""
        recipes = self.case(case)["recipes"]
        if name not in recipes:
            raise ValueError(
                f"{case} has no recipe {name}; it has {', '.join(recipes)}"
            )
        return recipes[name]

    def check(self) -> tuple[int, list[str]]:
        """Return how many hashes were checked, and the datasets that do not match."""
        count, bad = 0, []

        def visit(name: str, item) -> None:
            nonlocal count
            if isinstance(item, h5py.Dataset):
                count += 1
                digest = xxhash.xxh3_128_hexdigest(np.ascontiguousarray(item[()]))
                if digest != text(item.attrs["xxh3_128"]):
                    bad.append(name)

        self.file["cases"].visititems(visit)
        return count, bad


def distances(mine: np.ndarray, other: np.ndarray) -> dict[str, float]:
    """Return distances of O over all elements, and the worst cosine of a row."""
    a, b = mine.astype("f8"), other.astype("f8")
    with np.errstate(invalid="ignore"):
        rows = (a * b).sum(-1) / np.sqrt((a * a).sum(-1) * (b * b).sum(-1))
    return {
        "cosine": float((a * b).sum() / np.sqrt((a * a).sum() * (b * b).sum())),
        "worst row": float(np.nanmin(rows)),  # rows of zeros have no direction
        "mae": float(abs(a - b).mean()),
        "max error": float(abs(a - b).max()),
        "rel l2": float(np.sqrt(((a - b) ** 2).sum() / (b * b).sum())),
    }


def in_jitters(mine: np.ndarray, recipe: h5py.Group) -> float:
    """Return the distance of the worst row in jitters, beyond rounding O to bf16."""
    emulated = recipe["o"][()].astype("f8")
    exponent = np.frexp(np.where(emulated == 0, 2.0**-126, emulated))[1] - 1
    ulp = np.ldexp(1.0, np.maximum(exponent, -126) - BF16_BITS)
    beyond = np.maximum(abs(mine.astype("f8") - emulated) - OUTPUT_ULPS * ulp, 0)
    rows = np.sqrt((beyond**2).sum(-1)).transpose(0, 2, 1)  # [b, head, query]
    jitter = recipe["jitter/o"][()].astype("f8")
    part = np.divide(rows, jitter, out=np.full_like(rows, np.inf), where=jitter > 0)
    return float(np.where(rows == 0, 0, part).max())


def lse_error(mine: np.ndarray, other: np.ndarray) -> float:
    """Return the largest difference in nats; rows that see no key are -inf in both."""
    both = np.isneginf(mine) & np.isneginf(other)
    return float(abs(np.where(both, 0, mine) - np.where(both, 0, other)).max())


def show(golden: Golden) -> int:
    """Print what the set holds; return 1 if a hash is wrong."""
    for name in golden.names():
        case = golden.case(name)
        line = text(case.attrs["line"])
        print(f"{name}: {line}, scale {case.attrs['softmax_scale']:.6g}")
        for recipe, group in case["recipes"].items():
            form, lse = text(group.attrs["softmax_form"]), group["jitter/lse"][()]
            cost = distances(group["o"][()], case["exact/o"][()])
            print(
                f"  {recipe:8} {form:10} rel l2 to exact {cost['rel l2']:.2e}, "
                f"median LSE jitter {np.median(lse):.1e} nats"
            )
    if not xxhash:
        print("hashes not checked: the Python package xxhash is not installed")
        return 0
    count, bad = golden.check()
    print(
        f"{count} hashes checked, {len(bad)} wrong{': ' if bad else ''}{' '.join(bad)}"
    )
    return int(bool(bad))


def compare(golden: Golden, case_name: str, recipe_name: str, o, lse) -> None:
    """Print the distances of an answer to the emulated and the exact one."""
    case, recipe = golden.case(case_name), golden.recipe(case_name, recipe_name)
    for what, mine, shape in (
        ("O", o, case["exact/o"]),
        ("LSE", lse, case["exact/lse"]),
    ):
        if mine is not None and mine.shape != shape.shape:
            raise ValueError(f"{what} is {mine.shape}, {case_name} has {shape.shape}")
    for what, other in (("build", recipe), ("total", case["exact"])):
        figures = distances(o, other["o"][()])
        if lse is not None:
            figures["lse"] = lse_error(lse, other["lse"][()])
        print(f"{what}: " + ", ".join(f"{k} {v:.9g}" for k, v in figures.items()))
    print(f"jitters: o {in_jitters(o, recipe):.3g}", end="")
    if lse is not None:
        off = abs(lse - recipe["lse"][()]) / recipe["jitter/lse"][()]
        print(f", lse {np.nanmax(off):.3g}", end="")
    print()


def main() -> int:
    """Show a set, or compare with one."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` is no error
    p = argparse.ArgumentParser(description="Read a golden set.")
    p.add_argument("set")
    p.add_argument("--case")
    p.add_argument("--recipe", default="bf16")
    p.add_argument("--compare", metavar="O.npy")
    p.add_argument("--lse", metavar="LSE.npy")
    a = p.parse_args()
    if (a.case is None) != (a.compare is None) or (a.lse and not a.compare):
        p.error("--case and --compare go together")
    try:
        golden = Golden(a.set)
        if not a.compare:
            return show(golden)
        lse = np.load(a.lse) if a.lse else None
        compare(golden, a.case, a.recipe, np.load(a.compare), lse)
        return 0
    except (OSError, ValueError, KeyError) as why:
        print(f"read_golden.py: {why}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
