"""LightGBM's model text: write a forest, read a forest, and check text before LightGBM's own reader gets it.

That reader trusts its input: an index out of range, a loop among nodes or a wrong length crashes the process or hangs
it. So text from a model file must follow the grammar here exactly: a header, then trees whose nodes are each reached
once, on numeric features that exist.

    >>> check(constant(3), 3)
    >>> read_forest(np.frombuffer(constant(3), np.uint8), 3).values.tolist()
    [0.0]
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

import numpy as np

from podium.base.arrays import Array, Bytes
from podium.base.errors import ModelFileError
from podium.scorers.trees.forest import EXACT, NAN, Forest, build

END = "end of trees"


def trim(text: str) -> bytes:
    """The text up to the end of the trees, without the training parameters, such as the number of threads."""
    header, blank, body = text.partition(f"\n{END}\n")[0].partition("\n\n")
    kept = "\n".join(line for line in header.split("\n") if not line.startswith("monotone_constraints="))
    return f"{kept}{blank}{body}\n{END}\n".encode()


def constant(n_features: int) -> bytes:
    """One tree of one leaf that scores 0: the result of boosting if no feature can be split."""
    lines = ["num_leaves=1", "num_cat=0", *(f"{key}=" for key in _LISTS), "is_linear=0"]
    lines[lines.index("leaf_value=")] = "leaf_value=0"
    return whole(["Tree=0\n" + "\n".join([*lines, "shrinkage=1"]) + "\n\n\n"], n_features)


def joined(first: Bytes, second: Bytes) -> Bytes:
    """Text of the trees of two texts over the same features, with the header of the second."""
    one, (header, blank, body) = first.tobytes().decode(), second.tobytes().decode().partition("\n\n")
    blocks = [*_blocks(one.partition("\n\n")[2]), *_blocks(body)]
    trees = [f"Tree={t}\n{block.partition(chr(10))[2]}" for t, block in enumerate(blocks)]
    return np.frombuffer(f"{_sized(header, trees)}{blank}{''.join(trees)}{END}\n".encode(), np.uint8)


def with_values(text: Bytes, values: Array) -> Bytes:
    """The text with other values of leaves, of all trees in order; what does not change keeps its digits."""
    header, blank, body = text.tobytes().decode().partition("\n\n")
    trees, at = [], 0
    for block in _blocks(body):
        lines = block.split("\n")
        place = next(k for k, line in enumerate(lines) if line.startswith("leaf_value="))
        words = lines[place].removeprefix("leaf_value=").split(" ")
        new = [repr(float(value)) for value in values[at : at + len(words)]]
        same = [word if float(word) == float(value) else value for word, value in zip(words, new, strict=True)]
        lines[place] = "leaf_value=" + " ".join(same)
        trees.append("\n".join(lines))
        at += len(words)
    return np.frombuffer(f"{_sized(header, trees)}{blank}{''.join(trees)}{END}\n".encode(), np.uint8)


def divided(text: Bytes, number: int) -> Bytes:
    """The text with the values of all leaves over a number."""
    lines = text.tobytes().decode().split("\n")
    of_leaves = [line.removeprefix("leaf_value=") for line in lines if line.startswith("leaf_value=")]
    return with_values(text, np.array(" ".join(of_leaves).split(), np.float64) / number)


def _blocks(body: str) -> list[str]:
    """The texts of the trees, each with its number and the empty lines after it."""
    return [f"Tree={block}" for block in body.removesuffix(f"{END}\n").split("Tree=")[1:]]


def _sized(header: str, trees: Sequence[str]) -> str:
    """The header with the sizes of these trees."""
    return f"{header.rpartition(chr(10))[0]}\ntree_sizes={' '.join(str(len(tree)) for tree in trees)}"


def whole(trees: Sequence[str], n_features: int) -> bytes:
    """Join the texts of trees, each from its number to the two empty lines after it, and add the header."""
    sizes = " ".join(str(len(tree)) for tree in trees)
    header = [*_header(n_features), "feature_infos=" + " ".join(["none"] * n_features), f"tree_sizes={sizes}"]
    return "\n".join([*header, "", "".join(trees) + END, ""]).encode()


def check(raw: bytes, n_features: int) -> None:
    """Raise a clear error for text that LightGBM's reader must not get."""
    try:
        text = raw.decode("ascii")
    except UnicodeDecodeError:
        _refuse("it is not plain text")
    header, blank, body = text.partition("\n\n")
    expected = _header(n_features)
    lines = header.split("\n")
    if not blank or lines[: len(expected)] != expected or len(lines) != len(expected) + 2:
        _refuse(f"its header is not that of trees over {n_features} features")
    if not _INFOS.fullmatch(lines[-2]) or lines[-2].count(" ") != n_features - 1:
        _refuse(f"feature_infos does not describe {n_features} features")
    if not _SIZES.fullmatch(lines[-1]):
        _refuse("tree_sizes is not a list of sizes")
    at = 0
    for number, size in enumerate(map(int, lines[-1].partition("=")[2].split(" "))):
        _check_tree(body[at : at + size], number, n_features)
        at += size
    if body[at:] != f"{END}\n":
        _refuse("something other than the end follows the last tree")


def read_forest(text: Bytes, n_features: int, *, exact: bool = False) -> Forest:
    """Check and read LightGBM's text. With `exact`, tiny values are compared as they are."""
    whole = text.tobytes()
    check(whole, n_features)
    texts: dict[str, list[str]] = {key: [] for key in _COLUMNS}
    splits, leaves = [0], [0]
    for line in whole.decode().splitlines():
        key, _, value = line.partition("=")
        if key in texts:
            texts[key].append(value)
        elif key == "num_leaves":
            splits.append(splits[-1] + int(value) - 1)
            leaves.append(leaves[-1] + int(value))
    arrays: dict[str, Any] = {key: np.array(" ".join(texts[key]).split(), of) for key, of in _COLUMNS.items()}
    decision = arrays["decision_type"]
    missing = (decision >> 2 & 3).astype(np.uint8)
    if exact and (missing != NAN).any():
        raise ModelFileError("Trees that take small values as they are must have NaN for missing. Import them again.")
    return Forest(
        n_features=n_features,
        first_split=np.array(splits),
        first_leaf=np.array(leaves),
        feature=arrays["split_feature"],
        threshold=arrays["threshold"],
        left=arrays["left_child"],
        right=arrays["right_child"],
        missing=np.full_like(missing, EXACT) if exact else missing,
        missing_left=(decision & 2).astype(bool),
        values=arrays["leaf_value"],
        cover=arrays["leaf_count"] if len(arrays["leaf_count"]) == leaves[-1] else None,
    )


def write_forest(forest: Forest) -> bytes:
    """Write a forest as text. EXACT splits are written as NAN; `read_forest(…, exact=True)` reads them as EXACT."""
    trees = [_written(forest, t) for t in range(forest.n_trees)]
    return whole(trees, forest.n_features)


_WHOLE, _REAL = r"\d{1,10}+", r"\d{1,20}+(?:\.\d{1,20}+)?+(?:e[+-]?\d{1,3}+)?+"
_ANY = rf"-?(?:{_REAL}|inf|nan)"
_INFOS = re.compile(rf"feature_infos=(?:none|\[{_ANY}:{_ANY}\])(?: (?:none|\[{_ANY}:{_ANY}\]))*")
_SIZES = re.compile(rf"tree_sizes={_WHOLE}(?: {_WHOLE})*")
_LISTS = {  # a number per split, or per leaf if the name begins with leaf
    "split_feature": _WHOLE,
    "split_gain": _ANY,
    "threshold": rf"-?(?:{_REAL}|inf)",  # infinite if a split separates missing values from all others
    "decision_type": "0|2|4|6|8|10",  # numeric splits and the side of missing values; those of categories are odd
    "left_child": rf"-?{_WHOLE}",
    "right_child": rf"-?{_WHOLE}",
    "leaf_value": rf"-?{_REAL}",
    "leaf_weight": _ANY,
    "leaf_count": _WHOLE,
    "internal_value": _ANY,
    "internal_weight": _ANY,
    "internal_count": _WHOLE,
}
_PATTERNS = {
    "num_leaves": re.compile(r"[1-9]\d{0,9}"),
    "num_cat": re.compile("0"),
    **{key: re.compile(rf"(?:(?:{number})(?: (?:{number}))*)?") for key, number in _LISTS.items()},
    "is_linear": re.compile("0"),
    "shrinkage": re.compile(_REAL),
}


def _refuse(why: str) -> NoReturn:
    raise ModelFileError(f"The text of the trees cannot be used: {why}. Train the model again, or copy it again.")


def _header(n_features: int) -> list[str]:
    names = " ".join(f"Column_{feature}" for feature in range(n_features))
    return [
        "tree",
        "version=v4",
        "num_class=1",
        "num_tree_per_iteration=1",
        "label_index=0",
        f"max_feature_idx={n_features - 1}",
        f"feature_names={names}",
    ]


def _check_tree(text: str, number: int, n_features: int) -> None:
    lines = text.split("\n")
    pairs = [line.partition("=") for line in lines[1:-3]]
    if lines[0] != f"Tree={number}" or lines[-3:] != ["", "", ""] or [pair[0] for pair in pairs] != list(_PATTERNS):
        _refuse(f"tree {number} does not have the lines of a tree")
    fields = {key: value for key, _, value in pairs}
    for key, value in fields.items():
        if not _PATTERNS[key].fullmatch(value):
            _refuse(f"tree {number}: {key} must be of the form that LightGBM writes; got {value[:60]!r}")
    n_leaves = int(fields["num_leaves"])
    integers: dict[str, list[int]] = {}
    for key in _LISTS:
        expected = n_leaves if key.startswith("leaf") else n_leaves - 1
        words = fields[key].split()
        count = len(words)
        if count != expected and (n_leaves > 1 or count > expected or key == "leaf_value"):
            _refuse(f"tree {number}: {key} has {count} entries, but {n_leaves} leaves call for {expected}")
        if _is_whole(key):
            numbers = integers[key] = [int(word) for word in words]
            if numbers and max(max(numbers), -min(numbers)) >= 2**31:
                _refuse(f"tree {number}: {key} has a number beyond 32 bits")
    for feature in integers["split_feature"]:
        if feature >= n_features:
            _refuse(f"tree {number}: it splits on feature {feature + 1} of {n_features}")
    _check_shape(integers["left_child"], integers["right_child"], number, n_leaves)


def _is_whole(key: str) -> bool:
    return key.endswith(("_count", "_child", "_feature"))


def _check_shape(left: list[int], right: list[int], number: int, n_leaves: int) -> None:
    """Check that every node and leaf is reached exactly once from the root; a child −1 − k is leaf k."""
    if any(not -n_leaves <= child < n_leaves - 1 for child in left + right):
        _refuse(f"tree {number}: a node has a child that does not exist")
    if n_leaves < 2:
        return
    seen, waiting = set(), [0]
    while waiting:
        node = waiting.pop()
        if node in seen:
            _refuse(f"tree {number}: a node is reached twice")
        seen.add(node)
        if node >= 0:
            waiting += [left[node], right[node]]
    if len(seen) != 2 * n_leaves - 1:
        _refuse(f"tree {number}: {2 * n_leaves - 1 - len(seen)} nodes are never reached")


_COLUMNS = {
    "split_feature": np.int32,
    "threshold": np.float64,
    "decision_type": np.int64,
    "left_child": np.int32,
    "right_child": np.int32,
    "leaf_value": np.float64,
    "leaf_count": np.float64,
}


def _written(forest: Forest, t: int) -> str:
    a, b = forest.first_split[t : t + 2]
    c, e = forest.first_leaf[t : t + 2]
    kind = np.where(forest.missing[a:b] == EXACT, NAN, forest.missing[a:b]).astype(int)
    counts = _counts(forest.cover[c:e] if forest.cover is not None else np.ones(e - c))
    inner = np.zeros(b - a, np.int64)

    def above(split: int, left: int, right: int) -> int:
        inner[split - a] = left + right
        return left + right

    build(forest, t, leaf=lambda place: int(counts[place - c]), split=above)
    gain = np.zeros(b - a) if forest.gain is None else forest.gain[a:b]
    fields = {
        "num_leaves": str(e - c),
        "num_cat": "0",
        "split_feature": _integers(forest.feature[a:b]),
        "split_gain": _reals(gain),
        "threshold": _reals(forest.threshold[a:b]),
        "decision_type": _integers(kind * 4 + forest.missing_left[a:b] * 2),
        "left_child": _integers(forest.left[a:b]),
        "right_child": _integers(forest.right[a:b]),
        "leaf_value": _reals(forest.values[c:e]),
        "leaf_weight": _integers(counts),
        "leaf_count": _integers(counts),
        "internal_value": _integers(np.zeros(b - a, int)),
        "internal_weight": _integers(inner),
        "internal_count": _integers(inner),
        "is_linear": "0",
        "shrinkage": "1",
    }
    lines = [f"{key}={value}" for key, value in fields.items()]
    return "\n".join([f"Tree={t}", *lines, "", "", ""])


def _counts(cover: Array) -> Array:
    """Integers of at least 1 in proportion to the cover; the cover itself if it has such integers."""
    if (cover == np.rint(cover)).all() and cover.min() >= 1 and cover.sum() < 2**31:
        return cover.astype(np.int64)
    weights = np.where(np.isfinite(cover), np.maximum(cover, 0.0), 0.0)
    total = weights.sum()
    return np.maximum(np.rint(weights * (_TOTAL / total)) if total > 0 else weights, 1.0).astype(np.int64)


def _integers(values: Iterable[int]) -> str:
    return " ".join(str(int(value)) for value in values)


def _reals(values: Iterable[float]) -> str:
    return " ".join(repr(float(value)) for value in values)


_TOTAL = 1e6  # sum of the weights of a tree's leaves if the cover has no counts
