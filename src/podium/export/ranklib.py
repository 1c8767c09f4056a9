"""RankLib model files: trees as XML, weights as `1:w 2:w`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from podium.base.errors import IncompatibleError
from podium.base.registry import register
from podium.export.base import Target, as_trees, single
from podium.export.exported_forms import Affine, ExportedForm
from podium.export.exported_trees import Trees
from podium.export.supported_form import Exportable
from podium.imports.ranklib import read_ranklib
from podium.scorers.forms import LinearForm
from podium.scorers.trees.forest import Forest, build


@register
class RankLib(Target):
    """RankLib 2: x ≤ threshold in float32, added up in float32; weights in double. A missing value counts as 0."""

    missing_as_zero: bool = False
    """Also write trees that do not treat a missing value as 0, for data without missing values."""
    name = "ranklib"
    forms = (Trees, Affine)
    drops_offset = True
    replay = "java -jar RankLib.jar -load FILE -rank vectors.txt -score scores.txt"

    @property
    def no_missing(self) -> bool:  # type: ignore[override]
        return self.missing_as_zero

    def check(self, exportable: Exportable) -> None:
        forest = exportable.form.forest
        if forest is not None and not self.missing_as_zero:
            other = forest.missing_left != (forest.threshold >= 0)
            if other.any():
                raise IncompatibleError(
                    f"ranklib takes a missing value for 0; at {int(other.sum())} of {len(other)} splits this model "
                    "sends it elsewhere. If your data has no missing values, use 'ranklib(missing_as_zero=true)'."
                )

    def write_linear(self, exportable: Exportable, affine: Affine) -> bytes:
        pairs = (f"{l}:{weight!r}" for l, weight in enumerate(affine.weights.tolist(), 1))
        return ("## Coordinate Ascent\n" + " ".join(pairs) + "\n").encode()

    def write_trees(self, exportable: Exportable, forest: Forest) -> bytes:
        forest = as_trees(forest, self.name)
        lines = ["## LambdaMART", f"## No. of trees = {forest.n_trees}", "", "<ensemble>"]
        for t in range(forest.n_trees):
            lines += [f'<tree id="{t + 1}" weight="1.0">', "<split>", *_inside(forest, t), "</split>", "</tree>"]
        return "\n".join([*lines, "</ensemble>", ""]).encode()

    def read(self, raw: bytes, names: tuple[str, ...]) -> ExportedForm:
        form = read_ranklib(raw).form
        if isinstance(form, LinearForm):
            weights = np.zeros(len(names))
            weights[: len(form.weights)] = form.weights[: len(names)]
            return Affine(weights, form.offset, np.zeros(len(names)))
        return Trees(replace(form, n_features=len(names)))  # the file has features only up to the last one in use


def _inside(forest: Forest, t: int) -> list[str]:
    """Lines inside a tree, one element per line, as RankLib's reader requires."""

    def split(k: int, left: list[str], right: list[str]) -> list[str]:
        return [
            f"<feature> {forest.feature[k] + 1} </feature>",
            f"<threshold> {single(forest.threshold[k])} </threshold>",
            '<split pos="left">',
            *left,
            "</split>",
            '<split pos="right">',
            *right,
            "</split>",
        ]

    return build(forest, t, leaf=lambda k: [f"<output> {single(forest.values[k])} </output>"], split=split)
