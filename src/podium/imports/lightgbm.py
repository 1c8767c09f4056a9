"""Read LightGBM models, as written by `save_model`: text. Lines that scoring does not need are skipped."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import pairwise
from typing import Any

from podium.imports.foreign_file import ForeignModel, n_features_of, number, refuse, whole
from podium.imports.foreign_trees import FlatTree, Leaf, Split, forest_of, grow
from podium.scorers.trees.category_splits import Node, numeric_tree, sets_of
from podium.scorers.trees.forest import NAN

_PER_SPLIT = ("split_feature", "threshold", "decision_type", "left_child", "right_child")


def read_lightgbm(raw: bytes) -> ForeignModel:
    """Read a LightGBM model."""
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        refuse("it is not text.")
    head, *blocks = text.replace("\r\n", "\n").partition("\nend of trees")[0].split("\nTree=")
    header = _pairs(head)
    if not head.startswith("tree\n") or "max_feature_idx" not in header:
        refuse("it does not begin as LightGBM's models do.")
    if header.get("num_class", "1") != "1" or header.get("num_tree_per_iteration", "1") != "1":
        refuse("it gives several numbers per document. A ranking needs one.")
    n_features = n_features_of(whole(header["max_feature_idx"], "max_feature_idx") + 1)
    _check_whole(blocks, header.get("tree_sizes"), ended="\nend of trees" in text)
    scale = len(blocks) if "average_output" in header else 1
    trees = [_tree(_pairs(block), n_features, scale) for block in blocks]
    names = tuple(header.get("feature_names", "").split(" "))
    own = len(names) == n_features == len(set(names)) and names != tuple(f"Column_{l}" for l in range(n_features))
    notes = {"average_output": True} if scale > 1 else {}
    return ForeignModel("lightgbm", forest_of(trees, n_features), names if own else None, header.get("version"), notes)


def _check_whole(blocks: list[str], tree_sizes: str | None, *, ended: bool) -> None:
    """Raise a clear error if the trees differ in number or length from the header; LightGBM reads no such file."""
    if tree_sizes is None and ended:
        return
    sizes = [whole(size, "tree_sizes") for size in (tree_sizes or "").split()]
    if len(blocks) != len(sizes) or tree_sizes is None:
        refuse(f"it is cut short or damaged: it has {len(blocks)} trees, and says {len(sizes) or 'no number'}.")
    for t, (block, size) in enumerate(zip(blocks, sizes, strict=True)):
        if (length := len(f"Tree={block}\n".encode())) != size:
            refuse(f"it is cut short or damaged: tree {t} has {length} bytes, and tree_sizes says {size}.")


def _pairs(block: str) -> dict[str, str]:
    """Lines `key=value` as a dict; the value of a key alone is empty."""
    pairs: dict[str, str] = {}
    for line in block.split("\n"):
        key, _, value = line.partition("=")
        if key in pairs and key:
            refuse(f"{key[:30]} is there twice.")
        pairs[key] = value
    return pairs


def _tree(fields: dict[str, str], n_features: int, scale: int) -> FlatTree:
    if fields.get("is_linear", "0") != "0":
        refuse("its leaves are linear models. Train with linear_tree=false.")
    n_leaves = whole(fields.get("num_leaves"), "num_leaves")
    values = _list(fields, "leaf_value", n_leaves)
    counts = (
        _list(fields, "leaf_count", n_leaves)
        if fields.get("leaf_count")
        else [1.0 if n_leaves == 1 else float("nan")] * n_leaves
    )
    columns = {key: _list(fields, key, n_leaves - 1) for key in _PER_SPLIT}
    gains = _list(fields, "split_gain", n_leaves - 1) if fields.get("split_gain") else [0.0] * n_leaves

    sets = _sets(fields)

    def look(node: int) -> Split | Leaf:
        if node < 0:
            if node < -n_leaves:
                refuse(f"a tree of {n_leaves} leaves names leaf {-1 - node}.")
            return Leaf(values[-1 - node] / scale, counts[-1 - node])
        if node >= n_leaves - 1:
            refuse(f"a tree of {n_leaves - 1} splits names split {node}.")
        feature, threshold, decision, left, right = (columns[key][node] for key in _PER_SPLIT)
        kind = int(decision)
        if kind & 1 and threshold in sets:
            return Split(int(feature), threshold, False, int(left), int(right), max(gains[node], 0.0), NAN)
        if kind != decision or kind not in (0, 2, 4, 6, 8, 10):
            refuse(f"decision_type {decision} is neither that of a number nor of a set of categories.")
        return Split(int(feature), threshold, bool(kind & 2), int(left), int(right), max(gains[node], 0.0), kind >> 2)

    names: list[int] = []  # of the splits, in the order of the tree

    def noted(node: int) -> Split | Leaf:
        if node >= 0:
            names.append(node)
        return look(node)

    tree = grow(0 if n_leaves > 1 else -1, noted, n_features=n_features)
    by_sets = {k for k, node in enumerate(names) if int(columns["decision_type"][node]) & 1}
    return _by_numbers(tree, sets, by_sets) if by_sets else tree


def _sets(fields: dict[str, str]) -> Mapping[int, list[int]]:
    """Sets of categories of a tree, by the number that a split has for its threshold."""
    count = whole(fields.get("num_cat", "0"), "num_cat")
    if count == 0:
        return {}
    boundaries = _list(fields, "cat_boundaries", count + 1)
    if boundaries[0] != 0 or any(b <= a for a, b in pairwise(boundaries)):
        refuse("the sets of categories of a tree are damaged.")
    words = _list(fields, "cat_threshold", boundaries[-1])
    if max(words) >= 2**32 or min(words) < 0 or boundaries[-1] > _MOST_WORDS:
        refuse("a set of categories has a number beyond 32 bits, or too many categories.")
    return sets_of(boundaries, words)


def _by_numbers(tree: FlatTree, sets: Mapping[int, list[int]], by_sets: Collection[int]) -> FlatTree:
    """The tree with splits by numbers in place of those by sets of categories."""
    nodes = [
        Node(split.feature, split.threshold, split.missing, split.nan_left, split.left, split.right, split.gain,
             sets[int(split.threshold)] if k in by_sets else None)
        for k, split in enumerate(tree.splits)
    ]  # fmt: skip
    plain = numeric_tree(nodes)
    covers = plain.cover([leaf.cover for leaf in tree.leaves])
    return FlatTree(
        [
            Split(node.feature, node.threshold, node.missing_left, node.left, node.right, node.gain, node.missing)
            for node in plain.splits
        ],
        [Leaf(tree.leaves[leaf].value, cover) for leaf, cover in zip(plain.leaves, covers, strict=True)],
    )


_MOST_WORDS = 2**19  # codes up to 2²⁴, which are exact in float32


def _list(fields: dict[str, str], key: str, n: int) -> list[Any]:
    texts = fields.get(key, "").split()
    if len(texts) != n:
        refuse(f"{key} has {len(texts)} entries; {n} are expected.")
    read = whole if key.endswith(("_feature", "_child", "decision_type", "cat_boundaries", "cat_threshold")) else number
    return [read(text, key) for text in texts]
