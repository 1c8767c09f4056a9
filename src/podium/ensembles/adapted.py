"""Adaptation: a method on top of a saved model, or one for each market on top of a model of all."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.errors import IncompatibleError, ModelFileError, ParameterError, PodiumError
from podium.base.registry import param, register
from podium.data.dataset import Dataset
from podium.data.inputs import align_features
from podium.data.query_values import query_values
from podium.ensembles.composite import Composite, check_file_name, fitted, quiet, report
from podium.ensembles.packing import pack, unpack
from podium.learner import Learned
from podium.learner import fitted as fitted_array
from podium.model import Model
from podium.scorers import Params, Prepared, Trees
from podium.solvers import Watch
from podium.transforms import State


@register
class Adapted(Composite):
    """Adaptation: a method that learns what to add to the scores of a saved model, or of one for all markets.

    Formula: s(x) = scale·F_0(x) + f(x): f is `of`, fitted with the scores of F_0 as base scores. With a linear f and
        penalty λ: min Σ L(⟨w_0 + v, x⟩) + (λ/2)‖v‖², so that λ → ∞ is F_0, and λ → 0 forgets it. Trees continue
        boosting from F_0. With by=COLUMN, F_0 is fitted to all queries, and an f to those of each value of the column;
        a value without queries in training is scored by F_0.
    Ties: those that remain in the sum.
    Cost: a fit of `of`; with `by`, one for all queries and one for each value. Scoring costs both models.
    Use it for: a new market, language or season with few judged queries, and a model of an older one; one model for
        several markets. Choose the penalty on validation data: it says how far the source may be left.
    Reference: Geng, Yang, Xu & Hua, Ranking model adaptation for domain-specific search, CIKM 2009; Gao et al.,
        EMNLP 2009 (boosting from a model); Chapelle et al., Multi-task learning for boosting with application to web
        search ranking, KDD 2010 (by).
    """

    of: str = "listnet"
    """Method that learns what to add; one with a loss, a scorer and a solver."""
    source: str = ""
    """Model file of the model to start from; the result contains it."""
    by: str = ""
    """Column of the query features, such as market, in place of a source."""
    scale: float = param(default=1.0, least=0)
    """Factor of the source's scores."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.source:
            check_file_name(self.source, self.name)

    def query_columns(self, params: Params, state: State) -> tuple[str, ...]:
        own = (self.by,) if self.by else ()
        return tuple(dict.fromkeys([*own, *super().query_columns(params, state)]))

    def grid(self) -> dict[str, tuple[Any, ...]]:
        """The grid of `of`, and ten times its largest penalty, near the source; trees may also trust it by half."""
        grid = super().grid()
        if "penalty" in grid:
            grid["penalty"] = (*grid["penalty"], 10.0 * max(grid["penalty"]))
        return {**grid, "scale": (1.0, 0.5)} if isinstance(getattr(self.inner, "scorer", None), Trees) else grid

    def digest(self) -> str:
        own = hashlib.sha256(Path(self.source).read_bytes()).hexdigest() if self.source else ""
        return own + super().digest()

    def check(self, data: Dataset) -> None:
        if bool(self.source) == bool(self.by):
            raise ParameterError(
                "adapted: give a model file, 'adapted(of=listnet,source=old.podium)', or a column of the query "
                "features, 'adapted(of=listnet,by=market)'."
            )
        if not self.inner.takes_base_scores:
            raise IncompatibleError(
                f"{self.inner.name} cannot add to another model's scores. Use adapted with a loss, a scorer and a "
                "solver, such as of=listnet or of=lambdamart."
            )
        super().check(data)
        if self.by:
            query_values(data, self.by, self.name)
        else:
            _columns(Model.load(self.source), data)

    def learn(self, data: Dataset, rng: np.random.Generator, watch: Watch) -> Learned:
        return self._by_task(data, rng, watch) if self.by else self._from_source(data, rng, watch)

    def _from_source(self, data: Dataset, rng: np.random.Generator, watch: Watch) -> Learned:
        source = Model.load(self.source)
        columns = _columns(source, data)

        def based(part: Dataset) -> Dataset:
            return part.with_base_scores(self.scale * source.score(_only(part, columns)))

        own = replace(watch, valid=None if watch.valid is None else based(watch.valid), history=[])
        added = fitted(self.inner, based(data), rng, own)
        record = {key: added.info[key] for key in ("stopped", "iterations", "objective") if key in added.info}
        return Learned(self, {**pack([source, added]), "columns": columns}, record)

    def _by_task(self, data: Dataset, rng: np.random.Generator, watch: Watch) -> Learned:
        """Fit to all queries, then to those of each value; one that cannot be learned from adds nothing."""
        values = query_values(data, self.by, self.name)
        tasks = np.unique(values)
        shared = fitted(self.inner, data, rng, quiet(watch))
        models, learned, reasons = [shared], list[float](), dict[str, str]()
        for number, task in enumerate(tasks):
            report(watch, number + 1, len(tasks))
            part, own = _based(data, shared, values == task, self.scale), Watch(None, watch.metric)
            if watch.valid is not None and (same := query_values(watch.valid, self.by, self.name) == task).any():
                own.valid = _based(watch.valid, shared, same, self.scale)
            try:
                models.append(fitted(self.inner, part, rng.spawn(1)[0], own))
                learned.append(float(task))
            except PodiumError as error:  # documents of one grade only
                reasons[f"{task:g}"] = str(error)
        record = {
            "stopped": "all tasks fitted",
            "iterations": len(models),
            "tasks": learned,
            **({"not_learned": reasons} if reasons else {}),
        }
        return Learned(self, {**pack(models), "tasks": np.array(learned)}, record)

    def score(self, params: Params, data: Dataset) -> Array:
        return self.prepare(params, data.n_features)(data)

    def prepare(self, params: Params, n_features: int) -> Prepared:
        return self._prepared_by_task(params, n_features) if self.by else self._prepared_source(params, n_features)

    def _prepared_source(self, params: Params, n_features: int) -> Prepared:
        source, added = unpack(params, 2, most_features=n_features)
        columns = params.get("columns", np.empty(0, np.int64))
        if columns.shape != (source.n_features,) or columns.dtype.kind != "i":
            raise ModelFileError("The features of the model's source are missing. Train it again.")
        if len(columns) and not 0 <= columns.min() <= columns.max() < n_features:
            raise ModelFileError("The features of the model's source do not exist. Train it again.")

        def score(data: Dataset) -> Array:
            return self.scale * source.score(_only(data, columns)) + added.score(data)

        return score

    def weighted_members(self, params: Params, data: Dataset) -> list[tuple[Array, Model]] | None:
        """The model to start from and what is added; None if the former has only part of the features."""
        ones = np.ones(data.n_documents)
        if self.by:
            tasks = fitted_array(params, "tasks", (None,))
            shared, *others = unpack(params, len(tasks) + 1, most_features=data.n_features)
            value = query_values(data, self.by, self.name)[data.query_index]
            return [
                (self.scale * ones, shared),
                *((ones * (value == task), model) for task, model in zip(tasks, others, strict=True)),
            ]
        source, added = unpack(params, 2, most_features=data.n_features)
        if not np.array_equal(params.get("columns", np.empty(0)), np.arange(data.n_features)):
            return None
        return [(self.scale * ones, replace(source, feature_names=None)), (ones, added)]

    def _prepared_by_task(self, params: Params, n_features: int) -> Prepared:
        tasks = fitted_array(params, "tasks", (None,))
        shared, *others = unpack(params, len(tasks) + 1, most_features=n_features)

        def score(data: Dataset) -> Array:
            values = query_values(data, self.by, self.name)
            scores = self.scale * shared.score(data)
            for task, model in zip(tasks, others, strict=True):
                queries = np.flatnonzero(values == task)
                if len(queries):
                    scores[np.isin(data.query_index, queries)] += model.score(data.select(queries))
            return scores

        return score


def _columns(source: Model, data: Dataset) -> Ints:
    """The columns of the data that are the source's features: by name if both have names, else all by position."""
    numbered = np.arange(data.n_features, dtype=np.float32)[None, :]
    one = Dataset(numbered, None, np.array([0, 1]), feature_names=data.feature_names, source=data.source)
    aligned = source.align_features(one)
    return np.asarray(aligned.features, np.int64).reshape(-1)


def _only(data: Dataset, columns: Ints) -> Dataset:
    """The data with some of its features, without names."""
    nameless = data.with_features(data.features, None)
    if len(columns) == data.n_features and (columns == np.arange(len(columns))).all():
        return nameless
    names = tuple(map(str, range(data.n_features)))
    chosen = align_features(data.with_features(data.features, names), tuple(names[column] for column in columns))
    return chosen.with_features(chosen.features, None)


def _based(data: Dataset, shared: Model, chosen: Any, scale: float) -> Dataset:
    """Some queries, with the shared model's scores as base scores."""
    part = data.select(np.flatnonzero(chosen))
    return part.with_base_scores(scale * shared.score(part))
