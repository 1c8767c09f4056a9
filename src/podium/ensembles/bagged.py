"""Bagging: the mean of several fits of a method, each to a bootstrap sample of the queries."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from podium.base.arrays import Array, Flags, Ints
from podium.base.errors import IncompatibleError, ModelFileError
from podium.base.registry import param, register
from podium.data.dataset import Dataset
from podium.ensembles.combining import Combine, combined, comparable
from podium.ensembles.composite import Composite, check_query_weights, quiet, refuse_own_state, report
from podium.ensembles.forms_of_members import mean_form
from podium.ensembles.grade_curve import fit_grades, grades_of
from podium.ensembles.packing import members_params, packed_json, unpacked_json
from podium.learner import Learned, Learner
from podium.metrics import Metric
from podium.scorers import Params, Prepared, Trees
from podium.scorers.forms import Form, TreesForm
from podium.solvers import Watch, mean_metric
from podium.transforms import State, Transform


@register
class Bagged(Composite):
    """Bagging: several fits of a method, each to a bootstrap sample of the queries; their mean is the score.

    Formula: s(x) = (1/B) Σ_b f_b(x), f_b fitted with query weights n_b ~ Multinomial(Q; 1/Q, …, 1/Q). Whole queries are
        drawn, never rows. Other ways to combine: the mean of z-scores in the query, Borda's points, reciprocal ranks.
    Ties: those of `of`; documents that all members tie stay tied.
    Cost: B fits of `of`, and B times its scoring; linear models and trees are exported as one.
    Use it for: steadier results of trees and other methods that a few queries sway; `Model.spread`, how much the
        members disagree on a document; the metric out of bag in `info`, a validation without validation data.
    Reference: Breiman, Bagging predictors, Machine Learning 24, 1996.
    """

    of: str = "lambdamart"
    """Method to fit."""
    members: int = param(default=8, least=1, most=10_000)
    """Number of fits."""
    bootstrap: bool = True
    """Whether queries are drawn; if not, members differ by their random numbers only."""
    combine: Combine = "mean"
    """How members' scores become one: mean, zscores, rrf or borda."""

    @property
    def transform(self) -> Transform:  # type: ignore[override]
        """That of `of`, fitted once for all members."""
        return self.inner.transform

    @property
    def per_query(self) -> bool:
        return self.combine != "mean" or self.inner.per_query

    @property
    def takes_document_weights(self) -> bool:  # type: ignore[override]
        return self.inner.takes_document_weights

    @property
    def takes_base_scores(self) -> bool:  # type: ignore[override]
        return self.combine == "mean" and self.inner.takes_base_scores

    def query_columns(self, params: Params, state: State) -> tuple[str, ...]:
        members = [learner.query_columns(own, state) for learner, own in self._members(params)]
        return tuple(dict.fromkeys(name for names in members for name in names))

    def check(self, data: Dataset) -> None:
        self.inner.check(data)
        if self.bootstrap:
            instead = f"Or use bagged(of={self.of},bootstrap=false)."
            check_query_weights(self.inner, data, why="bagged draws queries by weights", instead=instead)

    def learn(self, data: Dataset, rng: np.random.Generator, watch: Watch) -> Learned:
        params: Params = {}
        learned, drawn = list[Learned](), list[Ints]()
        for b, own in enumerate([rng] if self.members == 1 else rng.spawn(self.members)):
            counts = _draw(data, own) if self.bootstrap else np.ones(data.n_queries, np.int64)
            sample = replace(data, query_weights=_weights(data) * counts) if self.bootstrap else data
            member = self.inner.learn(sample, own, quiet(watch))
            refuse_own_state(member, "bagged")
            params |= {f"{b}/{name}": array for name, array in member.params.items()}
            learned.append(member)
            drawn.append(counts)
            report(watch, b + 1, self.members)
        params["members"] = packed_json([repr(member.learner) for member in learned])
        record: dict[str, Any] = {
            "stopped": ", ".join(dict.fromkeys(str(member.record.get("stopped")) for member in learned)),
            "iterations": sum(int(member.record.get("iterations", 0)) for member in learned),
        }
        if data.labels is not None and data.document_weights is None and (self.bootstrap or self.members > 1):
            scores = np.stack([member.learner.score(member.params, data) for member in learned])
            absent = np.stack(drawn) == 0  # (B, Q)
            if self.bootstrap:
                record["out_of_bag"] = self._out_of_bag(scores, absent, data, watch)
            params |= fit_grades(scores, absent, data, are_grades=self.inner.predicts_grades)
        return Learned(self, params, record)

    def _out_of_bag(self, scores: Array, absent: Flags, data: Dataset, watch: Watch) -> dict[str, Any]:
        """The metric of queries by the members that did not see them."""
        scores = comparable(scores, data.offsets, self.combine)
        weights = absent[:, data.query_index]
        means = (scores * weights).sum(axis=0) / np.maximum(weights.sum(axis=0), 1)
        queries = np.flatnonzero(absent.any(axis=0))
        metric = watch.metric or Metric.parse("ndcg@10")
        rows = np.isin(data.query_index, queries)
        value = mean_metric(metric, means[rows], data.select(queries)) if len(queries) else float("nan")
        return {str(metric): None if np.isnan(value) else value, "queries": len(queries)}

    def score(self, params: Params, data: Dataset) -> Array:
        return self.prepare(params, data.n_features)(data)

    def prepare(self, params: Params, n_features: int) -> Prepared:
        form = self.form(params, n_features)
        if isinstance(form, TreesForm):  # in the order of an export, whose sums are proven to the last bit
            return Trees().prepare({"trees": form.text, **({"exact": np.ones(1)} if form.exact else {})}, n_features)
        members = [learner.prepare(own, n_features) for learner, own in self._members(params)]

        def score(data: Dataset) -> Array:
            return combined(np.stack([member(data) for member in members]), data.offsets, self.combine)

        return score

    def spread(self, params: Params, data: Dataset) -> Array:
        scores = np.stack([learner.score(own, data) for learner, own in self._members(params)])
        return np.asarray(comparable(scores, data.offsets, self.combine).std(axis=0))

    def member_grades(self, params: Params, data: Dataset) -> Array:
        if self.members == 1:
            raise IncompatibleError("bagged(members=1) has one member, who cannot differ from itself. Train several.")
        scores = np.stack([learner.score(own, data) for learner, own in self._members(params)])
        return grades_of(params, scores, data)

    def form(self, params: Params, n_features: int) -> Form | None:
        if self.combine != "mean":
            return None
        return mean_form([learner.form(own, n_features) for learner, own in self._members(params)])

    def _members(self, params: Params) -> list[tuple[Learner, Params]]:
        """The fitted members: learner and parameters of each."""
        texts = unpacked_json(params, "members")
        if not isinstance(texts, list) or len(texts) != self.members:
            raise ModelFileError(f"The model should have {self.members} members. Train it again.")
        parse = {text: Learner.parse(text) for text in dict.fromkeys(texts)}
        return [(parse[text], members_params(params, b)) for b, text in enumerate(texts)]


def _weights(data: Dataset) -> Array:
    return np.ones(data.n_queries) if data.query_weights is None else data.query_weights


def _draw(data: Dataset, rng: np.random.Generator) -> Ints:
    """How often each query is drawn, of as many draws as queries; some query with a weight is among them."""  # (Q,)
    n, weights = data.n_queries, _weights(data)
    while True:
        counts = np.bincount(rng.integers(n, size=n), minlength=n)
        if (counts * weights).any() or not weights.any():
            return counts
