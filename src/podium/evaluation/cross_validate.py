"""Cross-validation: every query is evaluated with a model that has not seen it.

>>> import podium
>>> data, _ = podium.make_letor_like(30, seed=1)
>>> evaluation = podium.cross_validate(data, "listnet", metrics=["ndcg@10", "map"])
>>> evaluation.means()["map"].queries
30
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from podium.data.inputs import labelled_data
from podium.data.splits import k_folds
from podium.evaluation.evaluate import Evaluation, evaluate, query_names, read_metrics

if TYPE_CHECKING:
    from podium.learner import Learner
    from podium.methods import Method
    from podium.metrics import Metric
    from podium.tuning import Tuning


def cross_validate(
    data: Any,
    labels: ArrayLike | str | Method | Learner | None = None,
    method: str | Method | Learner | None = None,
    *,
    metrics: str | Metric | list[str | Metric] = "ndcg@10",
    folds: int = 5,
    qid: ArrayLike | None = None,
    group: ArrayLike | None = None,
    tune_by: str | Metric = "ndcg@10",
    preset: str | None = None,
    search: str | Tuning = "grid",
    seed: int = 0,
) -> Evaluation:
    """Cross-validate a method: its metrics on every query, as test data of one fold.

    Data and method are as for `train`. Each of `folds` parts of the queries is test data once, and the next one is
    validation data, on which hyperparameters are tuned by `tune_by`.

    `labels`: a label per row, and `qid` a query id per row or `group` the sizes of consecutive queries, if `data` is
        features alone.
    `metrics`: what is reported.
    `preset`: compute each metric as a tool does, e.g. letor3 or trec.
    `search`: how hyperparameters are tuned: a `Tuning`, or its text, such as `grid`.
    `seed`: of the folds and of training.
    `method`: a name or specification, a `Method` or a learner; the second argument if `data` has labels.
    """
    from podium.training import labels_and_method, train

    labels, chosen = labels_and_method(labels, method)
    parsed = read_metrics(metrics, preset)
    labelled = labelled_data(data, labels, qid=qid, group=group)
    names = query_names(labelled)
    labelled = replace(labelled, query_ids=np.array(names, dtype=object))
    number = {name: q for q, name in enumerate(names)}
    values = np.full((len(parsed), labelled.n_queries), np.nan)
    for fold in k_folds(labelled, folds, seed=seed):
        assert fold.test is not None
        model = train(fold.train, chosen, valid=fold.valid, metric=tune_by, seed=seed, search=search)
        on_test = evaluate(fold.test, model.score(fold.test), parsed)
        values[:, [number[name] for name in on_test.query_ids]] = on_test.values
    return Evaluation(parsed, values, names)
