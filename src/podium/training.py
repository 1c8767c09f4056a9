"""Training: from data and a method to a model; with validation data, also the choice between settings.

>>> from podium.data.synthetic import make_letor_like
>>> from podium.training import train
>>> data, _ = make_letor_like(n_queries=20, seed=1)
>>> model = train(data, "ranknet")
>>> model.score(data).shape == (data.n_documents,)
True
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from podium.base.arguments import whole_number
from podium.base.arrays import Array
from podium.base.errors import DataError, IncompatibleError, ParameterError, PodiumWarning
from podium.base.progress import Progress
from podium.base.threads import default_threads, one_blas_thread
from podium.base.version import version
from podium.data.dataset import Dataset
from podium.data.inputs import align_features, labelled_data
from podium.distributions.temperature import fit_temperature
from podium.learner import Learned, Learner
from podium.methods import Method
from podium.methods import method as named
from podium.metrics import Metric, WeightedDCG
from podium.model import Model
from podium.solvers import Step, Watch, mean_metric
from podium.transforms import State, Transform
from podium.tuning import Tuning

Observer = Callable[[Step], None]
Fitting = Callable[..., Model]
"""What fits one learner to data, as `fit` does."""
Watching = Callable[[Transform, State], Watch]
"""The watch of a fit, once the transform of the validation data is known."""
Learning = Callable[[Learner, Dataset, Watching, int], tuple[Learned, State]]
"""What learns from data with a seed, and the transform's state."""


class TrainingProgress:
    """An observer that turns the iterations of several fits into the share of the work that is done."""

    def __init__(self, fits: int, progress: Progress) -> None:
        self._fits, self._fit, self._progress = max(fits, 1), -1, progress

    def record(self, step: Step) -> None:
        """Take note of an iteration; the first one begins a fit."""
        self._fit += step.iteration == 1
        self._progress(min((max(self._fit, 0) + step.iteration / step.total) / self._fits, 1.0))


def train(
    data: Any,
    labels: ArrayLike | str | Method | Learner | None = None,
    method: str | Method | Learner | None = None,
    *,
    qid: ArrayLike | None = None,
    group: ArrayLike | None = None,
    valid: Any = None,
    metric: str | Metric = "ndcg@10",
    seed: int = 0,
    search: str | Tuning = "grid",
    observers: tuple[Observer, ...] = (),
    fitting: Fitting | None = None,
) -> Model:
    """A model of the data: `train(data, "listnet")`, `train(frame, "listnet")` or `train(X, y, "listnet", qid=qid)`.

    The data is a Dataset, a frame with columns label, qid and features, or features and labels with the queries of
    their rows in `qid` (a query id per row) or `group` (the sizes of consecutive queries); rows come in any order.
    `method` is a method's name or specification, or a learner; lambdamart unless told.

    Validation data, `valid`, is a Dataset, a frame, or a tuple (features, labels, qid). With it, settings are chosen by
    `metric` from the method's grid, or by another `search`, e.g. optuna, and solvers with patience stop early by it.
    `model.info["trials"]` lists what was tried, and `model.info["chosen"]` is the number of the chosen one; its
    measure, `model.info["valid"]`, is optimistic, since it was chosen for being the best. The temperature of
    `Model.distribution` is fitted on validation data too. If that has document weights and no labels, it is measured by
    `weighted-dcg@10`, or another cut-off.

    `fitting` fits one learner in place of `fit`, e.g. on a cluster.
    """
    seed, (labels, chosen) = whole_number(seed, "seed", least=0), labels_and_method(labels, method)
    measure = Metric.parse(metric) if isinstance(metric, str) else metric
    known = labelled_data(data, labels, qid=qid, group=group)
    held = None if valid is None else align_features(_validation(valid), known.feature_names)
    by_weight = held is not None and held.document_weights is not None and isinstance(measure, WeightedDCG)
    if held is not None and by_weight:
        held = replace(held, labels=held.relevance(), document_weights=None, score_offsets=None)
    _check(known, held, chosen.learner, measure)
    fit_one = fitting or fit
    if held is None:
        alone = fit_one(chosen.learner, known, metric=measure, seed=seed, observers=observers)
        _warn_if_constant(alone, known)
        return alone

    def tried(learner: Learner) -> tuple[Model, Array]:
        assert held.labels is not None, "checked above"
        model = fit_one(learner, known, valid=held, metric=measure, seed=seed, observers=observers)
        return model, measure(model.score(held), held.labels, held.offsets, document_ids=held.document_ids)

    searching = Tuning.parse(search) if isinstance(search, str) else search
    worthwhile = chosen.without(lambda transform: not transform.worth_trying(known))
    found = searching.run(worthwhile, tried, seed=seed)
    _warn_if_constant(found, known)
    return found if by_weight else with_temperature(found, held)  # weights are no grades, whose order it would fit


def fit(
    learner: Learner,
    data: Dataset,
    *,
    valid: Dataset | None = None,
    metric: Metric,
    seed: int = 0,
    observers: tuple[Observer, ...] = (),
    learn: Learning | None = None,
) -> Model:
    """One learner, one fit; `learn` learns in place of this process, e.g. on a cluster."""
    check_fit(learner, data)

    def watching(transform: Transform, state: State) -> Watch:
        return Watch(None if valid is None else transform.apply(state, valid), metric, observers)

    with one_blas_thread():
        learned, state = (learn or _learn)(learner, data, watching, seed)
    return _fitted_model(learned, state, data, valid=valid, metric=metric, seed=seed)


def _learn(learner: Learner, data: Dataset, watching: Watching, seed: int) -> tuple[Learned, State]:
    state = learner.transform.fit(data)
    watch = watching(learner.transform, state)
    return learner.learn(learner.transform.apply(state, data), np.random.default_rng(seed), watch), state


def check_fit(learner: Learner, data: Dataset) -> None:
    """Raise a clear error if a learner cannot be fitted to the data."""
    default_threads()  # raises where PODIUM_THREADS is no number: now, not only where data is large
    if data.document_weights is not None and not learner.takes_document_weights:
        raise IncompatibleError(
            f"{learner.name} has no document weights. Leave them out, or use a loss with a scorer and a "
            "solver, such as ranknet or lambdamart."
        )
    if data.query_weights is not None and data.n_queries and not data.query_weights.any():
        raise DataError("the weight of every query is zero, so there is nothing to learn from.", where=data.source)
    learner.check(data)


def _fitted_model(
    found: Learned, state: State, data: Dataset, *, valid: Dataset | None, metric: Metric, seed: int
) -> Model:
    """The model of what was learned, with how it was made."""
    info: dict[str, Any] = {
        "podium": version(),
        "seed": seed,
        "data": data.digest(),
        "metric": str(metric),
        **({} if data.info is None else {"features": dict(data.info)}),
        **found.record,
    }
    kept = state if found.state is None else found.state
    model = Model(found.learner, found.params, kept, data.n_features, data.feature_names, info)
    return model if valid is None else model.with_info(valid=measured(model, valid, metric))


def with_temperature(model: Model, valid: Dataset) -> Model:
    """The model with the temperature that fits validation data best; unchanged where no query has two grades."""
    found = fit_temperature(model.score(valid), valid)
    if found is None:
        return model
    return model.with_info(distribution=repr(found.distribution), temperature=found.temperature)


def measured(model: Model, data: Dataset, metric: Metric) -> float:
    """The mean measure of a model on data, over the queries that count."""
    return mean_metric(metric, model.score(data), data)


def labels_and_method(labels: Any, method: str | Method | Learner | None) -> tuple[ArrayLike | None, Method]:
    """What stands where: train(data, "listnet") names the method where train(X, y, "listnet") has labels."""
    if isinstance(labels, str | Method | Learner):
        if method is not None:
            raise ParameterError(f"two methods, {labels} and {method}; labels are numbers, one per row.")
        labels, method = None, labels
    if isinstance(method, Learner):
        method = Method(method)
    if not isinstance(method, Method | str | None):
        raise ParameterError(f"a method is a name, a Method or a Learner; got {type(method).__name__}.")
    return labels, method if isinstance(method, Method) else named(method or "lambdamart")


def _validation(valid: Any) -> Dataset:
    """Validation data as a dataset."""
    if isinstance(valid, tuple):
        if len(valid) != 3:
            raise DataError(f"validation arrays are a tuple (features, labels, qid); got {len(valid)} parts.")
        return labelled_data(valid[0], valid[1], qid=valid[2])
    return labelled_data(valid)


def _warn_if_constant(model: Model, data: Dataset) -> None:
    """Say that a model ranks nothing, if all documents of the training data get the same score."""
    first = data.select(np.arange(min(int(np.searchsorted(data.offsets, _MANY)), data.n_queries)))
    if data.n_documents == 1 or np.ptp(model.score(first)) > 0 or np.ptp(model.score(data)) > 0:
        return
    warnings.warn(
        f"{model.learner}: the model gives all {data.n_documents} documents of the training data the same score, so "
        "it ranks nothing. Features may be constant, documents too few for trees (lower min_data_in_leaf), or no label "
        "relevant to the loss: see podium.check.",
        PodiumWarning,
        stacklevel=3,
    )


_MANY = 1000
"""Documents that are scored first, which shows of most models that they are not constant."""


def _check(data: Dataset, valid: Dataset | None, learner: Learner, metric: Metric) -> None:
    if data.n_documents == 0:
        raise DataError("there is no document to learn from.", where=data.source)
    check_fit(learner, data)
    if valid is None:
        return
    if valid.labels is None:
        hint = (
            " Document weights are measured by metric='weighted-dcg@10'." if valid.document_weights is not None else ""
        )
        raise DataError(f"validation data needs labels to measure by.{hint}", where=valid.source)
    if valid.n_features != data.n_features:
        raise DataError(
            f"validation data has {valid.n_features} features, the training data {data.n_features}.", where=valid.source
        )
    metric.check_tunes()
    if np.isnan(
        mean_metric(metric, np.arange(valid.n_documents, 0.0, -1.0), valid)
    ):  # also refuses labels without gain
        raise DataError(
            f"no query of the validation data counts for {metric}: there is nothing relevant to find in any. "
            "Give other validation data, or none.",
            where=valid.source,
        )
