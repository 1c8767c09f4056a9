"""Experiments: candidates that are tried against the model in use. They are kept in the store, and all workers follow.

A request takes part if the control would answer it. One experiment runs on a control at a time.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import astuple, fields
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import msgspec

from podium.base.errors import ParameterError, UnknownNameError
from podium.online.interleaving import Interleaving
from podium.service.domain_errors import ConflictError, NotFoundError, RequestError
from podium.service.experiments.experiment_results import Experiment, result
from podium.service.experiments.experiment_schemas import ExperimentAnswer, ExperimentRequest, Why
from podium.service.feedback.events import Feedback
from podium.service.feedback.feedback_export import reading_store
from podium.service.models.model_store import Entry, Shelf, check_name

if TYPE_CHECKING:
    import sqlite3

_NAMES = tuple(field.name for field in fields(Experiment))
_COLUMNS = ", ".join(_NAMES)
_METHODS = ("team-draft", "probabilistic")
_EVERY = 10.0
"""Seconds between two looks at the rules."""


class Experiments:
    """The running experiments, in `running`, and all that changes them."""

    def __init__(self, store: Feedback) -> None:
        self.running: Mapping[str, Experiment] = MappingProxyType({})
        """By name@version of the control. It is replaced, never changed, so that a request sees all of it."""
        self._store = store
        self._next_look = 0.0
        self.follow()

    def follow(self) -> None:
        """See what other processes started or ended."""
        with reading_store(self._store.path) as base:
            found = _read(base, "WHERE ended IS NULL")
        if {one.control: one for one in found} != self.running:
            self.running = MappingProxyType({one.control: one for one in found})

    def start(self, request: ExperimentRequest, shelf: Shelf) -> Experiment:
        """Start an experiment, or raise a clear error."""
        control, candidate = shelf.find(request.control), shelf.find(request.candidate)
        _check(request, control, candidate)
        made = Experiment(
            name=check_name(request.name), kind=request.kind, control=control.key, candidate=candidate.key,
            method=request.method, salt=secrets.token_hex(16), min_pages=request.min_pages,
            confidence=request.confidence, started=time.time_ns() // 1_000_000,
        )  # fmt: skip
        marks = ",".join("?" * len(fields(Experiment)))

        def insert(base: sqlite3.Connection) -> str:
            there = _read(base, "WHERE name=? OR (ended IS NULL AND control=?)", made.name, made.control)
            if there and there[0].name == made.name:
                return f"an experiment {made.name!r} is there already. Choose another name."
            if there:
                return f"{there[0].name} runs on {made.control}. End it first: POST /v1/experiments/{there[0].name}/end"
            base.execute(f"INSERT INTO experiment({_COLUMNS}) VALUES({marks})", astuple(made))
            return ""

        problem = self._store.change(insert).result()
        if problem:
            raise ConflictError(problem)
        self.follow()
        return made

    def end(self, name: str, why: Why = "asked") -> None:
        """End an experiment. What it found stays; ending it again changes nothing."""
        row = time.time_ns() // 1_000_000, why, name

        def update(base: sqlite3.Connection) -> None:
            base.execute("UPDATE experiment SET ended=?, why=? WHERE name=? AND ended IS NULL", row)

        with reading_store(self._store.path) as base:
            _one(base, name)
        self._store.change(update).result()
        self.follow()

    def find(self, name: str) -> ExperimentAnswer:
        """An experiment with what it says so far; raises 404 where there is none."""
        with reading_store(self._store.path) as base:
            return result(base, _one(base, name))

    def all(self) -> list[ExperimentAnswer]:
        """All experiments with what they say so far, the newest first."""
        with reading_store(self._store.path) as base:
            return [result(base, one) for one in _read(base, "ORDER BY started DESC, name")]

    def apply_rules(self) -> None:
        """End experiments whose candidate is better after enough pages, or does harm; looks now and then."""
        if time.monotonic() < self._next_look:
            return
        start = time.monotonic()
        self._next_look = start + _EVERY
        for one in self.running.values():
            if one.kind == "shadow":
                continue
            better = self.find(one.name).better
            if better is not None:
                self.end(one.name, "decided" if better == "candidate" else "harm")
        took = time.monotonic() - start
        self._next_look = time.monotonic() + max(_EVERY, 20.0 * took)  # never more than a twentieth of the time


def _check(request: ExperimentRequest, control: Entry, candidate: Entry) -> None:
    """Raise a clear error if two models cannot be compared."""
    if control.key == candidate.key:
        raise RequestError(f"control and candidate are both {control.key}.", where="candidate")
    missing = [name for name in candidate.feature_names if name not in control.columns]
    if missing:
        raise RequestError(
            f"{candidate.key} needs feature {missing[0]!r}, which requests for {control.key} do not bring.",
            where="candidate",
        )
    if request.kind == "interleave" and Interleaving.parse(request.method).name not in _METHODS:
        raise ParameterError(f"method must be {' or '.join(_METHODS)}; got {request.method!r}.")


def _one(base: sqlite3.Connection, name: str) -> Experiment:
    found = _read(base, "WHERE name=?", name)
    if not found:
        known = [one.name for one in _read(base, "ORDER BY started DESC LIMIT 20")]
        raise NotFoundError(str(UnknownNameError("experiment", name[:100], known, see="GET /v1/experiments")))
    return found[0]


def _read(base: sqlite3.Connection, where: str, *values: str) -> list[Experiment]:
    return [_checked(row) for row in base.execute(f"SELECT {_COLUMNS} FROM experiment {where}", values)]


def _checked(row: Sequence[Any]) -> Experiment:
    """A row of the table, or a ValueError if it is damaged."""
    try:
        one = msgspec.convert(dict(zip(_NAMES, row, strict=True)), Experiment)
        bytes.fromhex(one.salt)
    except (msgspec.ValidationError, ValueError) as error:
        raise ValueError(f"experiment {str(row[0])[:64]!r} is damaged: {error}") from None
    return one
