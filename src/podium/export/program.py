"""Program: the base of exports to source code, with the model as tables of numbers in the text (`C`, `Python`)."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from typing import Any, ClassVar, get_args

import numpy as np

from podium.base.errors import ModelFileError
from podium.base.version import version
from podium.export.base import Target
from podium.export.exported_forms import ExportedForm, Net
from podium.export.exported_trees import Trees
from podium.export.replay_vectors import examples
from podium.export.supported_form import Exportable
from podium.export.transforms import Clipped, Curve, Front, Kernel, Mixture, Products, Quantiles
from podium.scorers.activations import GELU_CUBE, GELU_SCALE, SELU_BELOW, SELU_SCALE, Activation
from podium.scorers.trees.forest import EXACT, Forest
from podium.transforms.quantile import normal_table

Tables = dict[str, Any]
"""Columns by name: int32, float32 or float64."""


class Program(Target):
    """Source code. Trees have podium's scores to the bit; networks, up to the order of summation in double."""

    forms = (Trees, Net)
    single = False
    takes_infinite = True
    table: ClassVar[re.Pattern[str]]
    """Pattern of a table; its groups are the name and the numbers."""

    @property
    def text(self) -> str:
        """Template in sections, each after a line `@@ name`; @NAME@ is a placeholder for a text of the model."""
        raise NotImplementedError

    def write(self, exportable: Exportable) -> bytes:
        X, scores, tolerance = examples(exportable)
        tests: Tables = {"test_x": X.ravel(), "test_score": scores, "test_tolerance": np.array([tolerance])}
        parts = {
            "VERSION": version(),
            **_NUMBERS,
            **self.parts(exportable, to_tables(exportable.form), tests),
        }
        _, *pieces = re.split(r"^@@ (\w+)\n", self.text, flags=re.MULTILINE)
        sections = dict(zip(pieces[::2], pieces[1::2], strict=True))
        text = "".join(sections.get(name, "") for name in _sections(exportable.form))
        return re.sub(r"@(\w+)@", lambda match: parts[match[1]], text).encode()

    def parts(self, exportable: Exportable, columns: Tables, tests: Tables) -> dict[str, str]:
        """Texts of the placeholders, by name."""
        raise NotImplementedError

    def number(self, text: str) -> float:
        """A number as the program's language writes it."""
        raise NotImplementedError

    def check_file(self, exportable: Exportable, raw: bytes) -> None:
        check_code(self.table, raw, self.write(exportable))

    def read(self, raw: bytes, names: tuple[str, ...]) -> ExportedForm:
        tables = self.table.findall(raw.decode())
        columns = {key.lower(): [self.number(text) for text in body.split(",") if text.strip()] for key, body in tables}
        return from_tables(columns, len(names))


def _sections(form: ExportedForm) -> list[str]:
    """Names of the sections for a form, in order; not every language has a text for each."""
    front = form.front
    if front is None:
        return ["head", "plain", "trees", "each", "tail"]
    curve = front.curve
    curves = ["line", "share", "normal" if curve.normal else "uniform"] if isinstance(curve, Quantiles) else []
    curves = ["clip"] if isinstance(curve, Clipped) else curves
    transforms = [*curves, "scaled", *(["beside"] if len(front.added) else []), *(["mixed"] if front.mixtures else [])]
    scores = ["activated", "document", "layers"] if form.forest is None else ["document", "trees", "on_trees"]
    return ["head", *transforms, *scores, *(["query"] if front.within_query else ["one", "each"]), "tail"]


def to_tables(form: ExportedForm) -> Tables:
    """Tables of trees or of a network, and of their front."""
    front = {} if form.front is None else _of_front(form.front)
    forest = form.forest
    if forest is not None:
        return {
            **front,
            "first_split": forest.first_split.astype(np.int32),
            "first_leaf": forest.first_leaf.astype(np.int32),
            "feature": forest.feature,
            "threshold": forest.threshold.astype(np.float32),
            "left": forest.left,
            "right": forest.right,
            "nan_left": forest.missing_left.astype(np.int32),
            "value": forest.values,
        }
    assert isinstance(form, Net)
    return {
        "width": np.array(form.widths[len(form.front.mixtures) :], np.int32),
        **front,
        "activation": np.array([_ACTIVATIONS.index(form.activation)], np.int32),
        # layer by layer: the weights, unit by unit, then the offsets
        "weight": np.concatenate([np.append(weights.T.ravel(), offset) for weights, offset in form.layers]),
    }


def _of_front(front: Front) -> Tables:
    """Tables of the scaling and the mixtures.

    `mixture` has four numbers each: kind, features before, pairs or landmarks, features of the landmarks. `pair` and
    `number` have, for products, the first and second features, the means and the scales; for a kernel, γ, the
    landmarks, and the root by columns.
    """
    tables: Tables = {
        "centre": front.centre,
        "scale": front.scale,
        "filling": front.filling,
        "within": np.array([front.within_query], np.int32),
    }
    if len(front.added):
        tables["added"] = front.added
    if front.curve is not None:
        tables |= _of_curve(front.curve)
    if not front.mixtures:
        return tables
    heads, pair, number = list[list[int]](), list[Any](), list[Any]()
    for n, mixture in zip(front.widths, front.mixtures, strict=False):
        if isinstance(mixture, Products):
            heads.append([0, n, len(mixture.first), 0])
            pair += [mixture.first, mixture.second]
            number += [mixture.mean, mixture.scale]
        else:
            heads.append([1, n, *mixture.root.shape])
            number += [np.array([mixture.gamma]), mixture.landmarks.ravel(), mixture.root.T.ravel()]
    return {
        **tables,
        "mixture": np.array(heads, np.int32).ravel(),
        "pair": np.concatenate([np.zeros(0, np.int32), *pair]),
        "number": np.concatenate(number),
    }


def _of_curve(curve: Curve) -> Tables:
    if isinstance(curve, Clipped):
        return {"clip_low": curve.low, "clip_high": curve.high}
    knots = {"knot": curve.knot, "knot_low": curve.low, "knot_high": curve.high}
    tables: Tables = {"first_knot": curve.first.astype(np.int32), **knots}
    return tables | (dict(zip(_NORMAL, normal_table(), strict=True)) if curve.normal else {})


_NUMBERS = {
    "SELU_SCALE": repr(SELU_SCALE),
    "SELU_BELOW": repr(SELU_BELOW),
    "GELU_SCALE": repr(GELU_SCALE),
    "GELU_CUBE": repr(GELU_CUBE),
}
"""Constants of activations, as placeholders of the templates."""
_ACTIVATIONS: tuple[Activation, ...] = get_args(Activation)
_NORMAL = ("normal_share", "normal_quantile")


def from_tables(tables: Mapping[str, Any], n_features: int) -> ExportedForm:
    """The form of the tables; raises a clear error if they do not fit together."""
    try:
        front = _front(tables) if "centre" in tables else None
        if front is None or "threshold" in tables:
            return Trees(_forest(tables, n_features if front is None else front.widths[-1]), front)
        return _net(tables, front)
    except (KeyError, ValueError, IndexError) as error:
        raise ModelFileError(
            f"The tables of the program do not fit together ({error}). Export the model again."
        ) from error


def _forest(tables: Mapping[str, Any], n_features: int) -> Forest:
    splits, leaves = (np.array(tables[key], np.int64) for key in ("first_split", "first_leaf"))
    k, n = int(splits[-1]), int(leaves[-1])
    columns = {
        key: np.array(tables[key], np.float64)[:k] for key in ("feature", "threshold", "left", "right", "nan_left")
    }
    values = np.array(tables["value"], np.float64)[:n]
    if len(splits) != len(leaves) or len(values) != n or any(len(column) != k for column in columns.values()):
        raise ValueError("columns of other lengths than first_split and first_leaf say")
    tree = np.repeat(np.arange(len(splits) - 1), np.diff(splits))
    for side in ("left", "right"):
        low, high = -np.diff(leaves)[tree], np.diff(splits)[tree]
        if ((columns[side] < low) | (columns[side] >= high)).any():
            raise ValueError("a split has a child that does not exist")
    if ((columns["feature"] < 0) | (columns["feature"] >= n_features)).any():
        raise ValueError("a split is on a feature that does not exist")
    return Forest(
        n_features=n_features,
        first_split=splits,
        first_leaf=leaves,
        feature=columns["feature"].astype(np.int32),
        threshold=columns["threshold"],
        left=columns["left"].astype(np.int32),
        right=columns["right"].astype(np.int32),
        missing=np.full(k, EXACT, np.uint8),
        missing_left=columns["nan_left"].astype(bool),
        values=values,
    )


def _front(tables: Mapping[str, Any]) -> Front:
    centre, scale, filling = (np.array(tables[key], np.float64) for key in ("centre", "scale", "filling"))
    pair, number = np.array(tables.get("pair", ()), np.int32), np.array(tables.get("number", ()), np.float64)
    mixtures = list[Mixture]()
    for kernel, n, m, r in np.array(tables.get("mixture", ()), np.int64).reshape(-1, 4).tolist():
        size = 1 + m * n + r * m if kernel else 2 * m
        if min(n, m, r) < 0 or size > len(number) or (not kernel and 2 * m > len(pair)):
            raise ValueError("fewer numbers than the mixtures say")
        part, number = number[:size], number[size:]
        if kernel:
            root = part[1 + m * n :].reshape(r, m).T
            mixtures.append(Kernel(float(part[0]), part[1 : 1 + m * n].reshape(m, n), root))
        else:
            mixtures.append(Products(pair[:m], pair[m : 2 * m], part[:m], part[m:]))
            pair = pair[2 * m :]
    within, added = bool(tables["within"][0]), np.array(tables.get("added", ()), np.int32)
    front = Front(
        centre, scale, filling, within_query=within, added=added, mixtures=tuple(mixtures), curve=_curve(tables)
    )
    if [int(n) for n in tables.get("mixture", ())][1::4] != front.widths[:-1]:
        raise ValueError("mixtures of other widths")
    return front


def _curve(tables: Mapping[str, Any]) -> Curve | None:
    if "clip_low" in tables:
        return Clipped(*(np.array(tables[key], np.float64) for key in ("clip_low", "clip_high")))
    if "first_knot" not in tables:
        return None
    first, normal = np.array(tables["first_knot"], np.int64), _NORMAL[0] in tables
    knot, low, high = (np.array(tables[key], np.float64)[: first[-1]] for key in ("knot", "knot_low", "knot_high"))
    if normal and not all(np.array_equal(tables[key], own) for key, own in zip(_NORMAL, normal_table(), strict=True)):
        raise ValueError("another normal distribution")
    return Quantiles(first, knot, low, high, normal)


def _net(tables: Mapping[str, Any], front: Front) -> Net:
    width, flat, at = [int(n) for n in tables["width"]], np.array(tables["weight"], np.float64), 0
    layers = []
    for n_in, n_out in itertools.pairwise(width):
        weights = flat[at : at + n_in * n_out].reshape(n_out, n_in).T
        at += n_in * n_out + n_out
        layers.append((weights, flat[at - n_out : at]))
    if front.widths[-1] != width[0] or at != len(flat):
        raise ValueError("columns of other lengths than width says")
    code = int(tables["activation"][0])
    if not 0 <= code < len(_ACTIVATIONS):
        raise ValueError("no such activation")
    return Net(front, tuple(layers), _ACTIVATIONS[code])


def check_code(table: re.Pattern[str], raw: bytes, own: bytes) -> None:
    """Raise a clear error if a program differs from `own`, podium's, in more than the numbers of its tables.

    `table` is the pattern of a table. A file is run to prove it, so its code must be podium's.
    """

    def code(program: bytes) -> str:
        try:
            text = program.decode()
        except UnicodeDecodeError:
            raise ModelFileError("The program is not text. Export the model again.") from None
        for _, body in table.findall(text):
            if not _PLAIN.fullmatch(body):
                raise ModelFileError("A table of the program holds more than numbers. Export the model again.")
        return table.sub(lambda match: match[1], text)

    if code(raw) != code(own):
        raise ModelFileError("The code of the program is not what this podium writes. Export the model again.")


_PLAIN = re.compile(r"[0-9a-fA-Fxp.+\-, ]*(?:(?:NAN|INFINITY|float\('-?(?:nan|inf)'\))[0-9a-fA-Fxp.+\-, ]*)*")
