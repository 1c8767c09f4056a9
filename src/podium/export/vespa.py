"""Vespa: a rank profile with the model as its function `podium_score`, to inherit or to copy into a schema."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from podium.base.errors import IncompatibleError, ModelFileError
from podium.base.float32 import next_down, next_up, round_down
from podium.base.registry import register
from podium.export.base import FeatureIndex, Target, as_trees, double
from podium.export.exported_forms import Affine, ExportedForm
from podium.export.exported_trees import Trees
from podium.export.supported_form import Exportable
from podium.imports.foreign_trees import FlatTree, Leaf, Split, forest_of, grow
from podium.scorers.trees.forest import Forest, build

_FEATURE = re.compile(r"[A-Za-z_]\w*(\([\w.,\"'$ ]*\))?(\.\w+)*", re.ASCII)
_TOKEN = re.compile(
    r"\s*(?:(?P<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(?P<sign>if\s*\(|!\(|>=|[<(),+*])|(?P<name>"
    + _FEATURE.pattern
    + "))",
    re.ASCII,
)


@register
class Vespa(Target):
    """Vespa 8: if (F < t, …, …) and sums in double; trees have podium's scores to the bit.

    Features have Vespa's names, e.g. bm25(title) or attribute(popularity); plain words are your own functions.
    """

    name = "vespa"
    forms = (Trees, Affine)
    single = False
    replay = "vespa query 'yql=…' ranking=podium, with podium_score among its match-features"

    def check(self, exportable: Exportable) -> None:
        for name in exportable.names:
            if not _FEATURE.fullmatch(name) or name == "if":
                raise IncompatibleError(
                    f"{name!r} is not how Vespa calls a feature. Give names such as bm25(title), attribute(age) or f1 "
                    "(--features FILE, a name per line)."
                )

    def write_linear(self, exportable: Exportable, affine: Affine) -> bytes:
        pairs = zip(affine.weights.tolist(), exportable.names, strict=True)
        return _profile([*(f"{weight!r} * {name}" for weight, name in pairs), repr(affine.offset)])

    def write_trees(self, exportable: Exportable, forest: Forest) -> bytes:
        trees = as_trees(forest, self.name)
        return _profile([_tree(trees, t, exportable.names) for t in range(trees.n_trees)])

    def read(self, raw: bytes, names: tuple[str, ...]) -> ExportedForm:
        text = raw.decode()
        start = re.search(r"function podium_score\(\) \{\s*+expression \{", text)
        end = -1 if start is None else text.find("\n        }", start.end())
        if start is None or end < 0:
            raise ModelFileError("There is no function podium_score.")
        terms = _terms(text[start.end() : end])
        place = FeatureIndex(names)
        if all(len(term) == 3 and term[1][1] == "*" for term in terms[:-1]) and len(terms[-1]) == 1 and len(terms) > 1:
            weights = np.zeros(len(names))
            for weight, _, name in terms[:-1]:
                weights[place[name[1]]] += float(weight[1])
            return Affine(weights, float(terms[-1][0][1]), np.full(len(names), np.nan))
        return Trees(forest_of([_read(term, place) for term in terms], len(names)))


def _profile(terms: list[str]) -> bytes:
    return _PROFILE.replace("@BODY@", " +\n            ".join(terms)).encode()


_PROFILE = """# Exported by podium. Larger scores are better.
rank-profile podium {
    function podium_score() {
        expression {
            @BODY@
        }
    }
    second-phase {
        expression: podium_score
    }
    match-features: podium_score
}
"""


def _tree(trees: Forest, t: int, names: tuple[str, ...]) -> str:
    def split(k: int, left: str, right: str) -> str:
        name, cut = names[trees.feature[k]], double(float(next_up(trees.threshold[k])))
        question = f"!({name} >= {cut!r})" if trees.missing_left[k] else f"{name} < {cut!r}"
        return f"if ({question}, {left}, {right})"

    return build(trees, t, leaf=lambda k: repr(float(trees.values[k])), split=split)


Token = tuple[str, str]  # kind, text


def _terms(text: str) -> list[list[Token]]:
    """Tokens of each term of the sum."""
    terms: list[list[Token]] = [[]]
    at, depth, end = 0, 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at, end)
        if match is None or match.lastgroup is None:
            raise ModelFileError(f"{text[at : at + 20]!r} is not part of an expression that podium writes.")
        at = match.end()
        kind = "number" if match["number"] else "sign" if match["sign"] else "name"
        token = "if(" if match[kind].startswith("if") and kind == "sign" else match[kind]
        depth += (token in ("if(", "!(", "(")) - (token == ")")
        if token == "+" and depth == 0:
            terms.append([])
        else:
            terms[-1].append((kind, token))
    return terms


def _read(tokens: list[Token], place: FeatureIndex) -> FlatTree:
    """A tree from its tokens: `if ( question , left , right )`, read from the end with a stack."""
    stack: list[Any] = []
    for kind, token in reversed(tokens):
        if kind == "number":
            stack.append(float(token))
        elif token == "if(":
            stack.append(_close(stack, place))
        else:
            stack.append(token)
    if len(stack) != 1 or not isinstance(stack[0], float | Split):
        raise ModelFileError("A term of the sum is neither a number nor one if (…).")

    def look(node: float | Split) -> Split | Leaf:
        return node if isinstance(node, Split) else Leaf(node)

    return grow(stack[0], look, n_features=len(place))


def _close(stack: list[Any], place: FeatureIndex) -> Split:
    """Pop the split that begins at the top of the stack."""
    negated = stack[-1] == "!("
    shape = ["!(", str, ">=", float, ")", ","] if negated else [str, "<", float, ","]
    shape = [*shape, (float, Split), ",", (float, Split), ")"]
    taken = [stack.pop() if stack else None for _ in shape]
    for item, wanted in zip(taken, shape, strict=True):
        fits = item == wanted if isinstance(wanted, str) else isinstance(item, wanted)  # type: ignore[arg-type]
        if not fits:
            raise ModelFileError(f"An if (…) of the expression is not one that podium writes, at {str(item)[:20]!r}.")
    name, cut = (taken[1], taken[3]) if negated else (taken[0], taken[2])
    # F < t for float32 F: up to the last float32 below t
    near = round_down([cut])[0]
    last = next_down(near) if float(near) == cut else near
    return Split(place[str(name)], float(last), negated, taken[-4], taken[-2])
