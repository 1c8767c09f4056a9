"""Small models of other tools as bytes, and ways to damage them."""

import functools
import json
import struct

import numpy as np

from podium.export import Target
from reference.forests import grown, odd


def ubj(value):
    """UBJSON, as XGBoost writes it: typed arrays of numbers, everything else untyped."""
    if isinstance(value, bool):
        return b"T" if value else b"F"
    if isinstance(value, int):
        return b"L" + struct.pack(">q", value)
    if isinstance(value, float):
        return b"d" + struct.pack(">f", value)
    if isinstance(value, str):
        return b"S" + _length(value.encode())
    if isinstance(value, list) and value and all(isinstance(one, float) for one in value):
        return b"[$d#L" + struct.pack(">q", len(value)) + np.array(value, ">f4").tobytes()
    if isinstance(value, list) and value and all(isinstance(one, int) for one in value):
        return b"[$l#L" + struct.pack(">q", len(value)) + np.array(value, ">i4").tobytes()
    if isinstance(value, list):
        return b"[#L" + struct.pack(">q", len(value)) + b"".join(map(ubj, value))
    return b"{" + b"".join(_length(key.encode()) + ubj(one) for key, one in value.items()) + b"}"


def _length(raw):
    return b"L" + struct.pack(">q", len(raw)) + raw


def exported(name, model):
    target = Target.parse(name)
    return target.write(target.accept(model))


def catboost(symmetric):
    """A model of CatBoost's over three features."""
    treatments = ["AsIs", "AsFalse", "AsTrue"]
    features = [
        {"feature_index": l, "flat_feature_index": l, "feature_id": name, "borders": borders, "has_nans": l > 0,
         "nan_value_treatment": treatments[l]}
        for l, (name, borders) in enumerate({"price": [0.5], "age": [], "clicks": [-1.25]}.items())
    ]  # fmt: skip
    splits = [
        {"border": border, "float_feature_index": l, "split_index": k, "split_type": "FloatFeature"}
        for k, (l, border) in enumerate([(0, 0.5), (2, -1.25)])
    ]
    found = {"features_info": {"float_features": features}, "scale_and_bias": [2.0, [0.25]], "model_info": {}}
    if symmetric:
        found["oblivious_trees"] = [
            {"leaf_values": [1.0, 2.0, 3.0, 4.5], "leaf_weights": [1, 2, 3, 4], "splits": splits}
        ]
    else:
        inner = {"split": splits[1], "left": {"value": 2.0, "weight": 3}, "right": {"value": -1.0, "weight": 1}}
        found["trees"] = [{"split": splits[0], "left": {"value": 0.5, "weight": 2}, "right": inner}]
    return json.dumps(found).encode()


@functools.cache
def files():
    """Well-formed files by format."""
    trees = exported("xgboost", odd("ordinary"))
    return {
        "lightgbm": exported("lightgbm", grown(7, "zero", 2)),
        "xgboost": trees,
        "xgboost ubj": ubj(json.loads(trees)),
        "catboost symmetric": catboost(True),
        "catboost free": catboost(False),
        "ranklib": exported("ranklib(missing_as_zero=true)", odd("ordinary")),
        "ranklib linear": b"## Coordinate Ascent\n## Restart = 2\n1:0.5 2:-0.25 4:1e-3\n",
    }


NUMBERS = [
    b"-1",
    b"0",
    b"2147483648",
    b"-99999999999",
    b"1e999",
    b"NaN",
    b"-Infinity",
    b"0.5",
    b"",
    b"null",
    b"[]",
    b"{}",
]
MARKS = [b"<", b">", b"&amp;", b"<!DOCTYPE a [<!ENTITY b 'c'>]>", b'"', b"}", b"[", b"\n", b"=", b":", b"\x00", b"\xff"]


def damaged(raw, rng):
    """A copy with a few random edits: bytes, numbers, pieces moved, doubled or cut."""
    out = bytearray(raw)
    for _ in range(rng.integers(1, 5)):
        if not out:
            break
        at, kind = int(rng.integers(0, len(out))), rng.integers(0, 8)
        end = min(at + int(rng.integers(1, 30)), len(out))
        if kind == 0:
            out[at] = rng.integers(0, 256)
        elif kind == 1:
            del out[at:end]
        elif kind == 2:
            out[at:at] = out[at:end]
        elif kind == 3:
            out[at:at] = MARKS[rng.integers(0, len(MARKS))]
        elif kind == 4:
            del out[at:]
        elif kind == 5:
            other = int(rng.integers(0, len(out)))
            out[at:end] = out[other : other + end - at]
        else:
            digits = [k for k in range(at, len(out)) if chr(out[k]).isdigit()][:1]
            if digits:
                last = digits[0]
                while last < len(out) and chr(out[last]) in "0123456789.eE+-":
                    last += 1
                out[digits[0] : last] = NUMBERS[rng.integers(0, len(NUMBERS))]
    return bytes(out)
