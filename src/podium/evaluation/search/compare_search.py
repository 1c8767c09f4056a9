"""Comparison of first-stage retrieval with learned re-ranking, on documents with queries and judgments.

Rows are the first stage, the first stage with parameters tuned on the training folds, and learned rankings of the
candidates of the tuned one, whose score is among their features. Metrics are computed against all judgments, so that a
relevant document which the first stage missed counts as missed, in all rows.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from podium.base.arguments import random_numbers
from podium.base.arrays import Array, Ints
from podium.base.errors import DataError
from podium.base.progress import Progress, quiet, tracked
from podium.base.registry import split_call
from podium.data.fold import Fold
from podium.evaluation.compare import Comparison, Outcome
from podium.evaluation.details import History, describe_fold, details
from podium.evaluation.evaluate import read_metrics
from podium.evaluation.search.tuned_stage import TriedStages, run_of, try_stages, values_of
from podium.formats.feature_rows import grades_of
from podium.formats.trec.trec import Qrels, Run
from podium.methods import method as named
from podium.metrics import Metric
from podium.text.retrieval import BM25, Retrieval
from podium.text.retrieval.candidates import DEPTH, dataset, has_first_stage
from podium.training import train

if TYPE_CHECKING:
    from podium.data.dataset import Dataset
    from podium.data.table import Table
    from podium.text.collection.collection import Topic
    from podium.text.index.index import Index

FIRST, TUNED = "first stage", "first stage, tuned"
FOLDS = 5
METRICS = ("ndcg@10", "map", "recall@100")
METHODS = ("shrunk", "listnet(transform=query-zscore)")
"""Learned by default: what podium train learns by default from features of an index, and its learned part alone."""


def default_methods(features: str) -> tuple[str, ...]:
    """The methods to compare on features: without the scores of the first stage, nothing is shrunk towards it."""
    return METHODS if has_first_stage(features) else METHODS[1:]


def compare_search(
    index: Index,
    queries: Iterable[Topic],
    qrels: Qrels | dict[str, dict[str, float]],
    methods: Sequence[str] | None = None,
    *,
    metrics: Sequence[str | Metric] = METRICS,
    preset: str | None = None,
    features: str = "podium",
    depth: int = DEPTH,
    by: Retrieval | str = BM25(),  # noqa: B008 (it is frozen)
    folds: int = FOLDS,
    seeds: Sequence[int] = (0,),
    tune_by: str | Metric = "ndcg@10",
    progress: Progress = quiet,
) -> Comparison:
    """Compare first-stage retrieval with re-ranking methods by cross-validation; each seed splits the folds anew.

    Each of `folds` parts of the judged queries is test data once; the next is validation data, and the rest training
    data. A method that cross-validates itself, as shrunk does, learns from both. Queries without a relevant document
    are left out. Among `methods`, by default `default_methods`, may be other first stages, such as "rm3": they are
    searched as they are.
    """
    methods = default_methods(features) if methods is None else methods
    grades = {query: labels for query, labels in grades_of(qrels).items() if any(g > 0 for g in labels.values())}
    topics = [topic for topic in queries if topic.id in grades]
    if len(topics) < folds:
        raise DataError(f"{len(topics)} queries have a relevant document; {folds} folds need at least {folds}.")
    how = Retrieval.parse(by) if isinstance(by, str) else by
    judge = _Judge([topic.id for topic in topics], grades, read_metrics(list(metrics), preset), str(tune_by))
    tried = try_stages(index, topics, grades, by=how, metrics=judge.measured, depth=depth, progress=progress)

    @functools.cache
    def candidates(stage: Retrieval) -> Table:
        asked = tracked(topics, progress, "features")
        return dataset(index, asked, grades, features=features, depth=depth, by=stage)

    searched = {name: judge.values(run_of(index, topics, stage, depth)) for name, stage in _searches(methods).items()}
    outcomes: list[Outcome] = []
    described = []
    for seed in seeds:
        for name, parts in _folds(len(topics), folds, seed):
            best = tried.best(np.setdiff1d(np.arange(len(topics)), parts[-1]), metric=judge.tuned_by)
            fold = judge.fold(name, candidates(tried.stages[best]), parts)
            described += [describe_fold(fold)] if seed == seeds[0] else []
            outcomes += judge.stages(tried, best, name, seed, parts[-1])
            for method in methods:
                progress(0.0, f"{method}, {name}")
                if method in searched:
                    values = searched[method][:, parts[-1]]
                    outcomes.append(judge.outcome(method, name, seed, method, values, parts[-1]))
                else:
                    outcomes.append(_learned(method, fold, judge, seed, parts[-1]))
    order = {name: k for k, name in enumerate((FIRST, TUNED, *methods))}
    outcomes.sort(key=lambda outcome: order[outcome.method])
    return Comparison(
        judge.metrics, int(seeds[0]), tuple(outcomes), tuple(described), judge.tune_by, index.store.path.name
    )


def _searches(methods: Iterable[str]) -> dict[str, Retrieval]:
    """Those of the methods that are first stages."""
    names = Retrieval.catalogue()
    return {method: Retrieval.parse(method) for method in methods if split_call(method)[0] in names}


class _Judge:
    """Evaluates rankings of queries against all judgments."""

    def __init__(
        self, names: list[str], grades: dict[str, dict[str, float]], metrics: tuple[Metric, ...], tune_by: str
    ) -> None:
        self.names, self.metrics, self.tune_by = names, metrics, Metric.parse(tune_by)
        self.measured = tuple(dict.fromkeys((*metrics, self.tune_by)))
        self.tuned_by = self.measured.index(self.tune_by)
        self.qrels = Qrels.from_dict({name: grades[name] for name in names})

    def fold(self, name: str, data: Table, parts: Sequence[Ints]) -> Fold:
        """Training, validation and test queries; those without candidates are in no data."""
        assert data.query_ids is not None
        place = {str(query): q for q, query in enumerate(data.query_ids)}

        def part(queries: Ints) -> Dataset:
            return data.select([place[self.names[q]] for q in queries if self.names[q] in place])

        self.learned_from = part(np.sort(np.concatenate(parts[:2])))
        training, valid, test = map(part, parts)
        return Fold(training, valid, test, name)

    def stages(self, tried: TriedStages, best: int, fold: str, seed: int, test: Ints) -> list[Outcome]:
        """The first stage as it is, and with the parameters that are best on the training folds."""
        training = np.setdiff1d(np.arange(len(self.names)), test)
        means = tried.means(training, metric=self.tuned_by)
        trials = [{"retrieval": repr(x), "valid": m} for x, m in zip(tried.stages, means, strict=True)]
        values = tried.values[:, : len(self.metrics)]
        as_it_is = self.outcome(FIRST, fold, seed, repr(tried.stages[0]), values[0][:, test], test)
        tuned = self.outcome(TUNED, fold, seed, repr(tried.stages[best]), values[best][:, test], test)
        return [as_it_is, replace(tuned, info={"trials": trials, "chosen": best})]

    def values(self, run: Run) -> Array:
        """The metrics of every query."""  # (M, Q)
        return values_of(self.qrels, run, self.metrics, self.names)

    def outcome(self, method: str, fold: str, seed: int, learner: str, values: Array, test: Ints) -> Outcome:
        names = tuple(self.names[q] for q in test)
        return Outcome(method, fold, learner, {}, 0.0, names, values, None, seed=seed)


def _folds(n: int, folds: int, seed: int) -> Iterator[tuple[str, tuple[Ints, Ints, Ints]]]:
    """The name of each fold, and the numbers of its training, validation and test queries."""
    parts = np.array_split(random_numbers(seed).permutation(n), folds)
    for f in range(folds):
        rest = [f + k for k in range(2, folds)] or [f + 1]
        training = np.concatenate([parts[k % folds] for k in rest])
        yield f"Fold{f + 1}", (np.sort(training), np.sort(parts[(f + 1) % folds]), np.sort(parts[f]))


def _learned(name: str, fold: Fold, judge: _Judge, seed: int, test: Ints) -> Outcome:
    """Train and evaluate a method on a fold."""
    assert fold.test is not None
    start = time.perf_counter()
    history, method = History(), named(name)
    training, valid = (judge.learned_from, None) if method.learner.cross_validates else (fold.train, fold.valid)
    model = train(training, method, valid=valid, metric=judge.tune_by, seed=seed, observers=(history.record,))
    seconds = time.perf_counter() - start
    scores = model.score(fold.test)
    values = judge.values(Run.from_scores(fold.test, scores))[:, test]
    outcome = judge.outcome(name, fold.name, seed, repr(model.learner), values, test)
    shown = details(model, fold, scores, metrics=judge.metrics, history=history)
    shown["curves"] = {}  # they would be those of the candidates alone
    return replace(outcome, info=dict(model.info), seconds=seconds, model=model, details=shown)
