"""Read LightGBM models, as written by `save_model`: text. Lines that scoring does not need are skipped."""

from __future__ import annotations

from typing import Any

from podium.imports.foreign_file import ForeignModel, n_features_of, number, refuse, whole
from podium.imports.foreign_trees import FlatTree, Leaf, Split, forest_of, grow

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
    if fields.get("num_cat", "0") != "0":
        refuse("it splits on categories. Encode them as numbers, and train again.")
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

    def look(node: int) -> Split | Leaf:
        if node < 0:
            if node < -n_leaves:
                refuse(f"a tree of {n_leaves} leaves names leaf {-1 - node}.")
            return Leaf(values[-1 - node] / scale, counts[-1 - node])
        if node >= n_leaves - 1:
            refuse(f"a tree of {n_leaves - 1} splits names split {node}.")
        feature, threshold, decision, left, right = (columns[key][node] for key in _PER_SPLIT)
        kind = int(decision)
        if kind != decision or kind not in (0, 2, 4, 6, 8, 10):
            refuse(f"decision_type {decision} is not that of a number.")
        return Split(int(feature), threshold, bool(kind & 2), int(left), int(right), max(gains[node], 0.0), kind >> 2)

    return grow(0 if n_leaves > 1 else -1, look, n_features=n_features)


def _list(fields: dict[str, str], key: str, n: int) -> list[Any]:
    texts = fields.get(key, "").split()
    if len(texts) != n:
        refuse(f"{key} has {len(texts)} entries; {n} are expected.")
    read = whole if key.endswith(("_feature", "_child", "decision_type")) else number
    return [read(text, key) for text in texts]
