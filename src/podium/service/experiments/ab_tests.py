"""A/B tests, interleaving and shadows: start and end experiments of a candidate against the control, which is in use.

Either is a model or, for searches, a first stage such as BM25. Experiments are stored in the feedback store, and all
workers follow it. A request takes part if the control would answer it. One experiment at a time runs on a control.
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
from podium.service.models.model_store import Entry, ModelStore, check_name
from podium.service.models.versions import missing_feature

if TYPE_CHECKING:
    import sqlite3

_NAMES = tuple(field.name for field in fields(Experiment))
_COLUMNS = ", ".join(_NAMES)
_METHODS = ("team-draft", "probabilistic")
_EVERY = 10.0
"""Seconds between two applications of the stopping rules."""


class Experiments:
    """Running experiments (A/B tests, interleaving, shadows), and the operations that start and end them."""

    def __init__(self, store: Feedback) -> None:
        self.running: Mapping[str, Experiment] = MappingProxyType({})
        """Experiments by name@version of the control. The mapping is replaced, never changed, for atomic reads."""
        self._store = store
        self._next_look = 0.0
        self.follow()

    def follow(self) -> None:
        """Read the experiments that other processes started or ended."""
        with reading_store(self._store.path) as base:
            running = {experiment.control: experiment for experiment in _read(base, "WHERE ended IS NULL")}
        if running != self.running:
            self.running = MappingProxyType(running)

    def start(self, request: ExperimentRequest, models: ModelStore, *, searches: bool) -> Experiment:
        """Start an experiment, or raise a clear error; `searches`: whether the service has an index."""
        control, candidate = (
            _find_arm(word, models, where, searches=searches)
            for where, word in (("control", request.control), ("candidate", request.candidate))
        )
        keys = [arm if isinstance(arm, str) else arm.key for arm in (control, candidate)]
        _check(request, control, candidate, keys)
        new = Experiment(
            name=check_name(request.name), kind=request.kind, control=keys[0], candidate=keys[1],
            method=request.method, salt=secrets.token_hex(16), min_pages=request.min_pages,
            confidence=request.confidence, started=time.time_ns() // 1_000_000,
        )  # fmt: skip
        marks = ",".join("?" * len(fields(Experiment)))

        def insert(base: sqlite3.Connection) -> str:
            others = _read(base, "WHERE name=? OR (ended IS NULL AND control=?)", new.name, new.control)
            other = others[0].name if others else None
            if other == new.name:
                return f"an experiment {new.name!r} is there already. Choose another name."
            if other is not None:
                return f"{other} runs on {new.control}. End it first: POST /v1/experiments/{other}/end"
            base.execute(f"INSERT INTO experiment({_COLUMNS}) VALUES({marks})", astuple(new))
            return ""

        problem = self._store.change(insert).result()
        if problem:
            raise ConflictError(problem)
        self.follow()
        return new

    def end(self, name: str, why: Why = "asked") -> None:
        """End an experiment. Its results stay; ending it again changes nothing."""
        row = time.time_ns() // 1_000_000, why, name

        def update(base: sqlite3.Connection) -> None:
            base.execute("UPDATE experiment SET ended=?, why=? WHERE name=? AND ended IS NULL", row)

        with reading_store(self._store.path) as base:
            _find(base, name)
        self._store.change(update).result()
        self.follow()

    def find(self, name: str) -> ExperimentAnswer:
        """Experiment with its results so far; raises 404 if there is none."""
        with reading_store(self._store.path) as base:
            return result(base, _find(base, name))

    def all(self) -> list[ExperimentAnswer]:
        """All experiments with their results so far, newest first."""
        with reading_store(self._store.path) as base:
            return [result(base, experiment) for experiment in _read(base, "ORDER BY started DESC, name")]

    def apply_rules(self) -> None:
        """Stopping rules: end experiments whose candidate is better after enough pages, or worse; checked at times."""
        if time.monotonic() < self._next_look:
            return
        start = time.monotonic()
        self._next_look = start + _EVERY
        for experiment in self.running.values():
            if experiment.kind == "shadow":
                continue
            better = self.find(experiment.name).better
            if better is not None:
                self.end(experiment.name, "decided" if better == "candidate" else "harm")
        took = time.monotonic() - start
        self._next_look = time.monotonic() + max(_EVERY, 20.0 * took)  # never more than a twentieth of the time


def _find_arm(word: str, models: ModelStore, where: str, *, searches: bool) -> Entry | str:
    """Find a model, or the spelling of a first stage."""
    try:
        return models.find(word)
    except NotFoundError:
        from podium.text.retrieval import Retrieval

        if word.partition("(")[0] not in Retrieval.catalogue():
            raise
    if not searches:
        raise RequestError(
            f"{word} searches an index, and the service has none. Start it with one: podium serve my.index", where=where
        )
    from podium.service.search_ranker import by_first_stage

    return by_first_stage(word, where).key


def _check(request: ExperimentRequest, control: Entry | str, candidate: Entry | str, keys: Sequence[str]) -> None:
    """Raise a clear error if two models or first stages cannot be compared."""
    if keys[0] == keys[1]:
        raise RequestError(f"control and candidate are both {keys[0]}.", where="candidate")
    if isinstance(control, str) or isinstance(candidate, str):
        if request.kind == "shadow":
            raise RequestError("a shadow compares models. For a first stage, take interleave or split.", where="kind")
        for where, arm in (("control", control), ("candidate", candidate)):
            if not isinstance(arm, str) and arm.engine is None:
                raise RequestError(
                    f"{arm.key} was not trained on features of this index, so it cannot search.", where=where
                )
    elif missing := _missing(request, control, candidate):
        raise RequestError(
            f"{candidate.key} needs feature {missing!r}, which requests for {control.key} do not bring.",
            where="candidate",
        )
    if request.kind == "interleave" and Interleaving.parse(request.method).name not in _METHODS:
        raise ParameterError(f"method must be {' or '.join(_METHODS)}; got {request.method!r}.")


def _missing(request: ExperimentRequest, control: Entry, candidate: Entry) -> str | None:
    """Feature without which no request can take part: searches need none, but are not part of shadows."""
    if request.kind != "shadow" and control.engine is not None and candidate.engine is not None:
        return None
    return missing_feature(candidate, control)


def _find(base: sqlite3.Connection, name: str) -> Experiment:
    rows = _read(base, "WHERE name=?", name)
    if not rows:
        names = [experiment.name for experiment in _read(base, "ORDER BY started DESC LIMIT 20")]
        raise NotFoundError(str(UnknownNameError("experiment", name[:100], names, see="GET /v1/experiments")))
    return rows[0]


def _read(base: sqlite3.Connection, where: str, *values: str) -> list[Experiment]:
    return [_checked(row) for row in base.execute(f"SELECT {_COLUMNS} FROM experiment {where}", values)]


def _checked(row: Sequence[Any]) -> Experiment:
    """Experiment of a row of the table; raises ValueError if it is damaged."""
    try:
        experiment = msgspec.convert(dict(zip(_NAMES, row, strict=True)), Experiment)
        bytes.fromhex(experiment.salt)
    except (msgspec.ValidationError, ValueError) as error:
        raise ValueError(f"experiment {str(row[0])[:64]!r} is damaged: {error}") from None
    return experiment
