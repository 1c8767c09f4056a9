"""Targets: what a model can be exported to. Each writes a file, and reads it back as its engine would."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

from podium.arrays import Array
from podium.export.handover import Handed, Handover, hand_over
from podium.float32 import Singles
from podium.model import Model
from podium.registry import Named


class Ran(NamedTuple):
    """Scores of the real engine."""

    scores: Array  # (N,)
    engine: str  # with its version


class Target(Named):
    """An engine or language, with the options of its file."""

    kind: ClassVar[str] = "target"
    home: ClassVar[str] = "podium.export"
    forms: ClassVar[tuple[type, ...]]
    """The forms it supports, of Forest, Affine and Net."""
    single: ClassVar[bool] = True
    """Whether the engine adds up in float32."""
    rounds_score: ClassVar[bool] = False
    """Whether it adds up in float64 and gives the sum as float32."""
    takes_infinite: ClassVar[bool] = False
    """Whether infinite features are part of the proof."""
    no_missing: ClassVar[bool] = False
    """Whether the proof is for documents without missing values alone."""
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
        raise NotImplementedError

    def check_file(self, given: Handover, raw: bytes) -> None:
        """Raise a clear error for a file that must not be run: a program whose code is not podium's."""

    def read(self, raw: bytes, names: tuple[str, ...]) -> Handed:
        """A file as the engine evaluates it: the effective thresholds and sides of splits, the weights as read."""
        raise NotImplementedError

    def run(self, raw: bytes, X: Singles, names: tuple[str, ...]) -> Ran | None:
        """The scores of the real engine; None where it is not installed."""
        return None

    def constant(self, given: Handover) -> float:
        """What the target's scores have on top of podium's, the same for every document."""
        return 0.0


def missing_package(name: str) -> Any:
    """A package by name, or None where it is not installed."""
    from importlib import import_module
    from importlib.util import find_spec

    return import_module(name) if find_spec(name) else None
