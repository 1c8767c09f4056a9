"""Target: the base class of export targets. Each writes a file, and reads it back as its engine does."""

from __future__ import annotations

import json
from types import ModuleType
from typing import ClassVar, NamedTuple

import numpy as np

from podium.base.arrays import Array, Singles
from podium.base.errors import IncompatibleError, ModelFileError
from podium.base.registry import Named
from podium.export.exported_forms import Affine, ExportedForm, Summation
from podium.export.supported_form import Exportable, make_exportable
from podium.model import Model
from podium.scorers.trees.exact_splits import depth, expand
from podium.scorers.trees.forest import Forest

DEEPEST = 400
_INFINITE = 1e39  # overflows to infinity as float32, is beyond every float32 as float64, and is plain JSON


class EngineScores(NamedTuple):
    """Scores computed by the real engine."""

    scores: Array  # (N,)
    engine: str  # with its version


class Target(Named):
    """An engine or programming language to export to; its fields are the options of the file."""

    kind: ClassVar[str] = "target"
    home: ClassVar[str] = "podium.export"
    forms: ClassVar[tuple[type[ExportedForm], ...]]
    """Supported forms: of Trees, Affine and Net; with Net, also trees on transformed features."""
    single: ClassVar[bool] = True
    """Whether the engine adds up in float32."""
    rounds_score: ClassVar[bool] = False
    """Whether it adds up in float64 and rounds the sum to float32."""
    takes_infinite: ClassVar[bool] = False
    """Whether infinite features are part of the proof."""
    no_missing: ClassVar[bool] = False
    """Whether the proof covers only documents without missing values."""
    drops_offset: ClassVar[bool] = False
    """Whether its linear models have no offset."""
    replay: ClassVar[str] = ""
    """Command that scores FILE.vectors.jsonl in the engine; FILE is a placeholder."""

    def accept(self, model: Model, *, names: tuple[str, ...] | None = None) -> Exportable:
        """The model in a form that the target supports; raises a clear error if there is none."""
        exportable = make_exportable(model, self.name, self.forms, names=names)
        self.check(exportable)
        return exportable

    def check(self, exportable: Exportable) -> None:
        """Raise a clear error if the target's format cannot express the model."""

    def write(self, exportable: Exportable) -> bytes:
        """Contents of the file."""
        if isinstance(exportable.form, Affine):
            return self.write_linear(exportable, exportable.form)
        assert exportable.form.forest is not None, "of the target's forms"
        return self.write_trees(exportable, exportable.form.forest)

    def write_linear(self, exportable: Exportable, affine: Affine) -> bytes:
        """Contents of the file of a linear model."""
        raise NotImplementedError

    def write_trees(self, exportable: Exportable, forest: Forest) -> bytes:
        """Contents of the file of trees on raw features."""
        raise NotImplementedError

    def check_file(self, exportable: Exportable, raw: bytes) -> None:
        """Raise a clear error if a file must not be run: a program whose code is not podium's."""

    def read(self, raw: bytes, names: tuple[str, ...]) -> ExportedForm:
        """Read a file as the engine evaluates it: effective thresholds and sides of splits, weights as rounded."""
        raise NotImplementedError

    def run(self, raw: bytes, X: Singles, names: tuple[str, ...]) -> EngineScores | None:
        """Score in the real engine; None if it is not installed."""
        return None

    def constant(self, exportable: Exportable) -> float:
        """Difference of the target's scores from podium's that is the same for every document."""
        return -exportable.form.offset if self.drops_offset and isinstance(exportable.form, Affine) else 0.0

    def summation(self, exportable: Exportable) -> Summation:
        """How the target adds up scores."""
        return Summation(self.single, self.rounds_score, self.constant(exportable))


class FeatureIndex(dict[str, int]):
    """Index of each feature by name; raises a clear error for a name that the model does not have."""

    def __init__(self, names: tuple[str, ...]) -> None:
        super().__init__((name, l) for l, name in enumerate(names))

    def __missing__(self, name: object) -> int:
        raise ModelFileError(f"The file has a feature {str(name)[:40]!r} that the model does not have.")


def installed(name: str) -> ModuleType | None:
    """Import a package by name; None if it is not installed."""
    from importlib import import_module
    from importlib.util import find_spec

    return import_module(name) if find_spec(name) else None


def single(value: float) -> float:
    """A float whose shortest text is read as this float32, also if it is parsed as float64 first."""
    return float(np.copysign(_INFINITE, value)) if np.isinf(value) else float(str(np.float32(value)))


def double(value: float) -> float:
    """The number itself; infinity becomes a number beyond every float32."""
    return float(np.copysign(_INFINITE, value)) if np.isinf(value) else float(value)


def dumps(value: object, *, indent: int | None = None) -> str:
    """Compact JSON text, indented if `indent` is set."""
    separators = None if indent else (",", ":")
    return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent, separators=separators)


def as_trees(forest: Forest, target: str) -> Forest:
    """Trees without shared splits; raises a clear error if they are too deep for nested formats."""
    trees = expand(forest)
    deepest = depth(trees)
    if deepest > DEEPEST:
        raise IncompatibleError(
            f"a tree is {deepest} splits deep, and readers of {target} allow about {DEEPEST} levels. "
            "Train with fewer leaves, or export to xgboost, onnx, c or python."
        )
    return trees
