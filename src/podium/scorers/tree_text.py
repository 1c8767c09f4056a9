"""LightGBM's model text: trimmed to what scoring reads, and checked before LightGBM's own reader sees it.

That reader trusts its input: an index out of range, a loop among nodes or a wrong length ends the process or hangs
it. So text from a model file has to follow the grammar here to the letter: a header, then trees whose nodes are each
reached once, on numeric features that exist. Nothing else passes.

    >>> check(constant(3), 3)
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NoReturn

from podium.errors import ModelFileError

END = "end of trees"


def trim(text: str) -> bytes:
    """The text up to the end of the trees; what follows are training parameters, such as the number of threads."""
    return (text.partition(f"\n{END}\n")[0] + f"\n{END}\n").encode()


def constant(n_features: int) -> bytes:
    """One tree of one leaf that scores 0: what boosting grows where there is nothing to split."""
    lines = ["num_leaves=1", "num_cat=0", *(f"{key}=" for key in _LISTS), "is_linear=0"]
    lines[lines.index("leaf_value=")] = "leaf_value=0"
    return whole(["Tree=0\n" + "\n".join([*lines, "shrinkage=1"]) + "\n\n\n"], n_features)


def whole(trees: Sequence[str], n_features: int) -> bytes:
    """The text of trees, each from its number to the two empty lines after it, with their header."""
    sizes = " ".join(str(len(tree)) for tree in trees)
    header = [*_header(n_features), "feature_infos=" + " ".join(["none"] * n_features), f"tree_sizes={sizes}"]
    return "\n".join([*header, "", "".join(trees) + END, ""]).encode()


def check(raw: bytes, n_features: int) -> None:
    """Raise a clear error for text that LightGBM's reader must not see."""
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


_WHOLE, _REAL = r"\d{1,10}+", r"\d{1,20}+(?:\.\d{1,20}+)?+(?:e[+-]?\d{1,3}+)?+"
_ANY = rf"-?(?:{_REAL}|inf|nan)"
_INFOS = re.compile(rf"feature_infos=(?:none|\[{_ANY}:{_ANY}\])(?: (?:none|\[{_ANY}:{_ANY}\]))*")
_SIZES = re.compile(rf"tree_sizes={_WHOLE}(?: {_WHOLE})*")
_LISTS = {  # a number per split, or per leaf where the name says so
    "split_feature": _WHOLE,
    "split_gain": _ANY,
    "threshold": rf"-?(?:{_REAL}|inf)",  # infinite where a split parts missing values from all others
    "decision_type": "0|2|4|6|8|10",  # on a number, and the side of missing ones; a category would be odd
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
    **{key: re.compile(rf"(?:(?:{one})(?: (?:{one}))*)?") for key, one in _LISTS.items()},
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
    for key in _LISTS:
        expected = n_leaves if key.startswith("leaf") else n_leaves - 1
        count = len(fields[key].split())
        if count != expected and (n_leaves > 1 or count > expected or key == "leaf_value"):
            _refuse(f"tree {number}: {key} has {count} entries, but {n_leaves} leaves call for {expected}")
        if _is_whole(key) and any(abs(int(value)) >= 2**31 for value in fields[key].split()):
            _refuse(f"tree {number}: {key} has a number beyond 32 bits")
    for feature in map(int, fields["split_feature"].split()):
        if feature >= n_features:
            _refuse(f"tree {number}: it splits on feature {feature + 1} of {n_features}")
    _check_shape(fields, number, n_leaves)


def _is_whole(key: str) -> bool:
    return key.endswith(("_count", "_child", "_feature"))


def _check_shape(fields: dict[str, str], number: int, n_leaves: int) -> None:
    """Every node and every leaf is reached exactly once from the root; −1 − leaf stands for a leaf."""
    left, right = ([int(child) for child in fields[side].split()] for side in ("left_child", "right_child"))
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
