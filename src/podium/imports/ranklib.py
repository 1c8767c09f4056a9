"""Read RankLib models: trees as XML (LambdaMART, MART, Random Forests), weights as `1:w 2:w` (Coordinate Ascent, …).

x ≤ threshold goes left, in float32; a missing value counts as 0; outputs are float32 numbers, times the weight of their
tree in float64. The XML is read by a small grammar: six elements, and no entities, which could expand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from podium.imports.foreign_file import ForeignModel, n_features_of, number, refuse, whole
from podium.imports.foreign_trees import FlatTree, Leaf, Split, forest_of, grow
from podium.scorers.forms import LinearForm
from podium.scorers.trees.forest import Forest

_TREES = ("LambdaMART", "MART", "Random Forests")
_LINEAR = ("Coordinate Ascent", "Linear Regression", "AdaRank")
_TOKEN = re.compile(
    r'<(/?)(ensemble|tree|split|feature|threshold|output)((?:\s++\w++\s*+=\s*+"[^"<>&]*+")*)\s*+>|([^<>&]++)'
)
_ATTRIBUTE = re.compile(r'\b(\w++)\s*+=\s*+"([^"]*+)"')
_LINE_END = re.compile("\r\n|\r|\n")  # as Java reads lines
_BLANK = "".join(map(chr, range(33)))
_DEEPEST = 10_000

Element = tuple[str, dict[str, str], list["Element"], str]  # name, attributes, elements inside, text inside


def read_ranklib(raw: bytes) -> ForeignModel:
    """Read a RankLib model."""
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        refuse("it is not text.")
    lines = _LINE_END.split(text)
    kind = lines[0].removeprefix("##").strip() if lines[0].startswith("##") else ""
    body = "\n".join("" if line.startswith("##") else line for line in lines)
    if kind in _TREES:
        return ForeignModel("ranklib", _forest(_elements(body)), notes={"ranker": kind, "missing": "counts as 0"})
    if kind in _LINEAR:
        return ForeignModel("ranklib", _linear(body, kind), notes={"ranker": kind})
    return refuse(
        f"its first line is {lines[0][:40]!r}; RankLib's models begin with ## and one of "
        f"{', '.join((*_TREES, *_LINEAR))} (RankNet, ListNet and RankBoost cannot be read)."
    )


def _elements(body: str) -> list[Element]:
    """Parse the text into nested elements."""
    top: list[Element] = []
    open_: list[Element] = [("", {}, top, "")]
    at = 0
    while at < len(body):
        match = _TOKEN.match(body, at)
        if match is None:
            refuse(f"at {body[at : at + 20]!r}: only the elements of RankLib's trees are read.")
        at = match.end()
        close, name, attributes, text = match.groups()
        if text is not None:
            here = open_[-1]
            if text.strip() and here[3]:
                refuse(f"the text of <{here[0]}> is in several pieces.")
            if text.strip():
                open_[-1] = (*here[:3], text)
        elif not close:
            if len(open_) > _DEEPEST:
                refuse(f"its elements are nested more than {_DEEPEST} deep.")
            open_.append((name, dict(_ATTRIBUTE.findall(attributes)), [], ""))
        else:
            done = open_.pop()
            if done[0] != name or not open_:
                refuse(f"</{name}> closes <{done[0]}>.")
            open_[-1][2].append(done)
    if len(open_) != 1 or open_[0][3].strip():
        refuse("an element is not closed, or there is text outside of all elements.")
    return top


def _forest(ensembles: list[Element]) -> Forest:
    """Trees of all ensembles; several ensembles, which are bagged, are averaged."""
    if not ensembles or any(element[0] != "ensemble" for element in ensembles):
        refuse("there is no <ensemble>.")
    trees = [tree for ensemble in ensembles for tree in ensemble[2]]
    if any(tree[0] != "tree" or len(tree[2]) != 1 for tree in trees):
        refuse("an <ensemble> holds something other than trees of one <split>.")
    features = [whole(inner[3], "feature") for tree in trees for inner in _walk(tree) if inner[0] == "feature"]
    n_features = n_features_of(max(features, default=1))
    return forest_of([_tree(tree, n_features, len(ensembles)) for tree in trees], n_features)


def _walk(element: Element) -> Iterator[Element]:
    waiting = [element]
    while waiting:
        inner = waiting.pop()
        yield inner
        waiting += inner[2]


def _tree(tree: Element, n_features: int, ensembles: int) -> FlatTree:
    with np.errstate(over="ignore"):
        weight = float(np.float32(number(tree[1].get("weight"), "weight")))

    def look(node: Element) -> Split | Leaf:
        inside = {
            name: [child for child in node[2] if child[0] == name]
            for name in ("output", "feature", "threshold", "split")
        }
        counts = [len(inside[name]) for name in inside]
        if node[0] != "split" or counts not in ([1, 0, 0, 0], [0, 1, 1, 2]):
            refuse("a <split> holds neither one <output> nor feature, threshold and two splits.")
        if inside["output"]:
            with np.errstate(over="ignore"):
                value = float(np.float32(number(inside["output"][0][3], "output")))
            return Leaf(value * weight / ensembles)
        sides = {split[1].get("pos"): split for split in inside["split"]}
        if set(sides) != {"left", "right"}:
            refuse("the two splits of a <split> are not left and right.")
        with np.errstate(over="ignore"):
            cut = float(np.float32(number(inside["threshold"][0][3], "threshold")))
        feature = whole(inside["feature"][0][3], "feature") - 1
        return Split(feature, cut, cut >= 0, sides["left"], sides["right"])

    return grow(tree[2][0], look, n_features=n_features)


def _linear(body: str, kind: str) -> LinearForm:
    """Parse `1:w 2:w`, and `0:b` of Linear Regression; weights of the same feature (AdaRank's rounds) add up."""
    lines, weights = [line for line in body.split("\n") if line.strip(_BLANK)], dict[int, float]()
    if len(lines) != 1:
        refuse(f"its weights are on {len(lines)} lines; RankLib reads one.")
    for pair in lines[0].strip(_BLANK).split(" "):
        if not pair:
            continue
        feature, colon, value = pair.partition(":")
        if not colon:
            refuse(f"{pair[:30]!r} is not feature:weight.")
        l, w = whole(feature, "feature"), number(value, "weight")
        if l < (0 if kind == "Linear Regression" else 1):
            refuse(f"feature {l}: RankLib's features begin with 1.")
        weights[l] = weights.get(l, 0.0) + w
    d = n_features_of(max(weights, default=0))
    form = LinearForm(np.array([weights.get(l, 0.0) for l in range(1, d + 1)]), weights.get(0, 0.0))
    if not np.isfinite([*form.weights, form.offset]).all():
        refuse("its weights are not finite numbers.")
    return form
