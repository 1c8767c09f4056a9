"""Targets: what a model can be exported to. Each writes a file, and reads it back as its engine would."""

from __future__ import annotations

import json
from typing import Any, ClassVar, NamedTuple

import numpy as np

from podium.base.arrays import Array, Singles
from podium.base.errors import IncompatibleError, ModelFileError
from podium.base.registry import Named
from podium.export.exported_forms import Adding, Affine, ExportedForm
from podium.export.supported_form import Handover, hand_over
from podium.model import Model
from podium.scorers.trees.exact_splits import depth, expand
from podium.scorers.trees.forest import Forest

DEEPEST = 400
_INFINITE = 1e39  # overflows to infinity as float32, is beyond every float32 as float64, and is plain JSON


class Ran(NamedTuple):
    """Scores of the real engine."""

    scores: Array  # (N,)
    engine: str  # with its version


class Target(Named):
    """An engine or language, with the options of its file."""

    kind: ClassVar[str] = "target"
    home: ClassVar[str] = "podium.export"
    forms: ClassVar[tuple[type[ExportedForm], ...]]
    """The forms it supports, of Trees, Affine and Net; with Net, also trees on transformed features."""
    single: ClassVar[bool] = True
    """Whether the engine adds up in float32."""
    rounds_score: ClassVar[bool] = False
    """Whether it adds up in float64 and gives the sum as float32."""
    takes_infinite: ClassVar[bool] = False
    """Whether infinite features are part of the proof."""
    no_missing: ClassVar[bool] = False
    """Whether the proof is for documents without missing values alone."""
    drops_offset: ClassVar[bool] = False
    """Whether its linear models have no offset."""
    replay: ClassVar[str] = ""
    """How to score FILE.vectors.jsonl in the engine; FILE stands for the file."""

    def accept(self, model: Model, *, names: tuple[str, ...] | None = None) -> Handover:
        """The model in a form that the target supports; a clear error where there is none."""
        found = hand_over(model, self.name, self.forms, names=names)
        self.check(found)
        return found

    def check(self, given: Handover) -> None:
        """Raise a clear error for what the target's format cannot express."""

    def write(self, given: Handover) -> bytes:
        """The file."""
        if isinstance(given.form, Affine):
            return self.write_linear(given, given.form)
        assert given.form.forest is not None, "of the target's forms"
        return self.write_trees(given, given.form.forest)

    def write_linear(self, given: Handover, affine: Affine) -> bytes:
        """The file of a linear model."""
        raise NotImplementedError

    def write_trees(self, given: Handover, forest: Forest) -> bytes:
        """The file of trees on raw features."""
        raise NotImplementedError

    def check_file(self, given: Handover, raw: bytes) -> None:
        """Raise a clear error for a file that must not be run: a program whose code is not podium's."""

    def read(self, raw: bytes, names: tuple[str, ...]) -> ExportedForm:
        """A file as the engine evaluates it: the effective thresholds and sides of splits, the weights as read."""
        raise NotImplementedError

    def run(self, raw: bytes, X: Singles, names: tuple[str, ...]) -> Ran | None:
        """The scores of the real engine; None where it is not installed."""
        return None

    def constant(self, given: Handover) -> float:
        """What the target's scores have on top of podium's, the same for every document."""
        return -given.form.offset if self.drops_offset and isinstance(given.form, Affine) else 0.0

    def adding(self, given: Handover) -> Adding:
        """How the target adds up scores."""
        return Adding(self.single, self.rounds_score, self.constant(given))


class Places(dict[str, int]):
    """The place of each feature by its name; a clear error for a name that the model does not have."""

    def __init__(self, names: tuple[str, ...]) -> None:
        super().__init__((name, l) for l, name in enumerate(names))

    def __missing__(self, name: Any) -> int:
        raise ModelFileError(f"The file has a feature {str(name)[:40]!r} that the model does not have.")


def missing_package(name: str) -> Any:
    """A package by name, or None where it is not installed."""
    from importlib import import_module
    from importlib.util import find_spec

    return import_module(name) if find_spec(name) else None


def single(value: float) -> float:
    """A number whose shortest text is read as this float32, whether directly or by way of float64."""
    return float(np.copysign(_INFINITE, value)) if np.isinf(value) else float(str(np.float32(value)))


def double(value: float) -> float:
    """The number itself; for infinity one beyond every float32."""
    return float(np.copysign(_INFINITE, value)) if np.isinf(value) else float(value)


def dumps(value: Any, *, indent: int | None = None) -> str:
    """JSON."""
    separators = None if indent else (",", ":")
    return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent, separators=separators)


def as_trees(forest: Forest, target: str) -> Forest:
    """Trees without shared splits, of a depth that nested formats can hold."""
    trees = expand(forest)
    deepest = depth(trees)
    if deepest > DEEPEST:
        raise IncompatibleError(
            f"a tree is {deepest} splits deep, and readers of {target} allow about {DEEPEST} levels. "
            "Train with fewer leaves, or export to xgboost, onnx, c or python."
        )
    return trees
