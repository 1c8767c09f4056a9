"""Comparison of first-stage retrieval with learned re-ranking, on documents with queries and judgments.

Rows are the first stage, the first stage with parameters tuned on the training folds, and learned rankings of its
candidates. Metrics are computed against all judgments, so that a relevant document which the first stage missed counts
as missed, in all rows.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from podium.base.arguments import random_numbers
from podium.base.arrays import Array, Ints
from podium.base.errors import DataError
from podium.base.progress import Progress, quiet, tracked
from podium.data.fold import Fold
from podium.evaluation.compare import Comparison, Outcome
from podium.evaluation.details import History, describe_fold, details
from podium.evaluation.evaluate import evaluate_run, read_metrics
from podium.formats.trec.trec import Qrels, Run
from podium.methods import method as named
from podium.metrics import Metric
from podium.parsing.ids import Ids
from podium.text.retrieval import BM25, QueryLikelihood, Retrieval
from podium.text.retrieval.candidates import DEPTH, dataset, grades_of
from podium.training import train

if TYPE_CHECKING:
    from podium.data.dataset import Dataset
    from podium.data.table import Table
    from podium.text.collection.collection import Topic
    from podium.text.index.index import Hits, Index

FIRST, TUNED = "first stage", "first stage, tuned"
FOLDS = 5
METRICS = ("ndcg@10", "map", "recall@100")
TRIED: dict[type[Retrieval], list[dict[str, float]]] = {
    BM25: [{"k1": k1, "b": b} for k1 in (0.6, 0.9, 1.2, 1.6, 2.0) for b in (0.1, 0.3, 0.5, 0.65, 0.75, 0.9)],
    QueryLikelihood: [{"mu": mu} for mu in (50.0, 100.0, 200.0, 500.0, 1000.0, 2000.0, 5000.0)],
}


def compare_search(
    index: Index,
    queries: Iterable[Topic],
    qrels: Qrels | dict[str, dict[str, float]],
    methods: Sequence[str],
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
    data. Queries without a relevant document are left out.
    """
    grades = {query: labels for query, labels in grades_of(qrels).items() if any(g > 0 for g in labels.values())}
    topics = [topic for topic in queries if topic.id in grades]
    if len(topics) < folds:
        raise DataError(f"{len(topics)} queries have a relevant document; {folds} folds need at least {folds}.")
    how = Retrieval.parse(by) if isinstance(by, str) else by
    judge = _Judge([topic.id for topic in topics], grades, read_metrics(list(metrics), preset))
    tracked_topics = tracked(topics, progress, "features")
    data = dataset(index, tracked_topics, grades, features=features, depth=depth, by=how)
    tuning = _Tuning(index, topics, how, depth, judge, Metric.parse(str(tune_by)), progress)
    outcomes: list[Outcome] = []
    described = []
    for seed in seeds:
        for fold, places in _folds(data, judge.names, folds, seed):
            described += [describe_fold(fold)] if seed == seeds[0] else []
            outcomes += tuning.outcomes(fold.name, seed, places)
            for name in methods:
                progress(0.0, f"{name}, {fold.name}")
                outcomes.append(_learned(name, fold, judge, seed, places, str(tune_by)))
    order = {name: k for k, name in enumerate((FIRST, TUNED, *methods))}
    outcomes.sort(key=lambda outcome: order[outcome.method])
    chosen_by = Metric.parse(str(tune_by))
    return Comparison(judge.metrics, int(seeds[0]), tuple(outcomes), tuple(described), chosen_by, index.store.path.name)


class _Judge:
    """Evaluates rankings of queries against all judgments."""

    def __init__(self, names: list[str], grades: dict[str, dict[str, float]], metrics: tuple[Metric, ...]) -> None:
        self.names, self.metrics = names, metrics
        self.qrels = Qrels.from_dict({name: grades[name] for name in names})

    def values(self, run: Run | dict[str, dict[str, float]], metrics: tuple[Metric, ...] | None = None) -> Array:
        """The metrics of every query; a query that a run does not answer is a failure."""  # (M, Q)
        evaluation = evaluate_run(self.qrels, run, list(metrics or self.metrics), all_queries=True)
        place = {name: k for k, name in enumerate(evaluation.query_ids)}
        return evaluation.values[:, [place[name] for name in self.names]]

    def outcome(self, method: str, fold: str, seed: int, learner: str, values: Array, test: Ints) -> Outcome:
        names = tuple(self.names[q] for q in test)
        return Outcome(method, fold, learner, {}, 0.0, names, values, None, seed=seed)


class _Tuning:
    """The first stage as it is, and with the parameters that are best on the training folds."""

    def __init__(
        self,
        index: Index,
        topics: list[Topic],
        how: Retrieval,
        depth: int,
        judge: _Judge,
        tune_by: Metric,
        progress: Progress,
    ) -> None:
        self.judge, self.how = judge, how
        grid = next((tried for kind, tried in TRIED.items() if isinstance(how, kind)), [])
        self.tried = [how, *(replace(how, **parameters) for parameters in grid)]  # type: ignore[type-var]
        self.by, self.values = [], []
        for n, retrieval in enumerate(self.tried):
            hits = [index.search(topic.text, depth, by=retrieval) for topic in topics]
            wanted = tuple(dict.fromkeys((*judge.metrics, tune_by)))
            values = judge.values(_run([topic.id for topic in topics], hits), wanted)
            self.values.append(values[: len(judge.metrics)])
            self.by.append(values[wanted.index(tune_by)])
            progress((n + 1) / len(self.tried), "first stage")

    def outcomes(self, fold: str, seed: int, test: Ints) -> list[Outcome]:
        training = np.setdiff1d(np.arange(len(self.judge.names)), test)
        means = [np.nanmean(values[training]) for values in self.by]
        best = int(np.argmax(means))  # ties go to the default, which is first
        info = {"trials": [{"retrieval": repr(x), "valid": float(m)} for x, m in zip(self.tried, means, strict=True)]}
        first, tuned = self.values[0][:, test], self.values[best][:, test]
        of_first = self.judge.outcome(FIRST, fold, seed, repr(self.how), first, test)
        of_tuned = self.judge.outcome(TUNED, fold, seed, repr(self.tried[best]), tuned, test)
        return [of_first, replace(of_tuned, info={**info, "chosen": best})]


def _run(names: list[str], hits: list[Hits]) -> Run:
    """The hits of each query as a run."""
    offsets = np.cumsum([0, *map(len, hits)])
    ids = Ids.of([id for query in hits for id in query.ids])
    scores = np.concatenate([query.scores for query in hits]) if hits else np.empty(0)
    return Run(np.array(names, object), offsets.astype(np.int64), ids, scores)


def _folds(data: Table, names: list[str], folds: int, seed: int) -> Iterator[tuple[Fold, Ints]]:
    """The folds, and the numbers of the test queries of each. Queries without candidates are in no data."""
    assert data.query_ids is not None
    place = {str(query): q for q, query in enumerate(data.query_ids)}
    parts = np.array_split(random_numbers(seed).permutation(len(names)), folds)

    def part(*which: int) -> Dataset:
        queries = np.sort(np.concatenate([parts[k % folds] for k in which]))
        return data.select([place[names[q]] for q in queries if names[q] in place])

    for f in range(folds):
        rest = [f + k for k in range(2, folds)] or [f + 1]
        yield Fold(part(*rest), part(f + 1), part(f), f"Fold{f + 1}"), np.sort(parts[f])


def _learned(name: str, fold: Fold, judge: _Judge, seed: int, test: Ints, tune_by: str) -> Outcome:
    """Train and evaluate a method on a fold."""
    assert fold.test is not None
    start = time.perf_counter()
    history = History()
    model = train(fold.train, named(name), valid=fold.valid, metric=tune_by, seed=seed, observers=(history.record,))
    seconds = time.perf_counter() - start
    scores = model.score(fold.test)
    values = judge.values(Run.from_scores(fold.test, scores))[:, test]
    outcome = judge.outcome(name, fold.name, seed, repr(model.learner), values, test)
    shown = details(model, fold, scores, metrics=judge.metrics, history=history)
    shown["curves"] = {}  # they would be those of the candidates alone
    return replace(outcome, info=dict(model.info), seconds=seconds, model=model, details=shown)
