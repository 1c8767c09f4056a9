"""Training: fit a method to data; with validation data, also choose its hyperparameters.

>>> from podium.data.synthetic import make_letor_like
>>> from podium.training import train
>>> data, _ = make_letor_like(n_queries=20, seed=1)
>>> model = train(data, "ranknet")
>>> model.score(data).shape == (data.n_documents,)
True
"""

from __future__ import annotations

import functools
import numbers
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
from podium.data.categories import aligned_categories
from podium.data.dataset import Dataset
from podium.data.inputs import align_features, labelled_data
from podium.data.seen_queries import sample_queries
from podium.data.splits import LEAST_DECIDING, hold_out
from podium.data.table import Table
from podium.distributions.temperature import fit_temperature
from podium.jit.tiers import machine_code
from podium.learner import Learned, Learner
from podium.losses import Loss
from podium.methods import Method
from podium.methods import method as named
from podium.metrics import Metric, WeightedDCG
from podium.model import Model
from podium.recipe import Recipe
from podium.scorers import Params, SmoothScorer
from podium.solvers import Step, Watch, mean_metric
from podium.solvers.early_stopping import query_values
from podium.transforms import State, Transform
from podium.tuning import Tuning

DEFAULT = "lambdamart"
"""The method for most data."""
Observer = Callable[[Step], None]
Fitting = Callable[..., Model]
"""Fits one learner to data: the signature of `fit`."""
Watching = Callable[[Transform, State], Watch]
"""Creates the watch of a fit, once the transform has been fitted."""
Learning = Callable[[Learner, Dataset, Watching, int], tuple[Learned, State]]
"""(learner, data, watching, seed) → the result of learning, and the state of the transform."""


class TrainingProgress:
    """Observer that reports the iterations of several fits as the fraction of the work done."""

    def __init__(self, fits: int, progress: Progress) -> None:
        self._fits, self._fit, self._progress = max(fits, 1), -1, progress

    def record(self, step: Step) -> None:
        """Count an iteration; iteration 1 starts the next fit."""
        self._fit += step.iteration == 1
        self._progress(min((max(self._fit, 0) + step.iteration / step.total) / self._fits, 1.0))


@machine_code()
def train(
    data: Any,
    labels: ArrayLike | str | Method | Learner | Loss | None = None,
    method: str | Method | Learner | Loss | None = None,
    *,
    qid: ArrayLike | None = None,
    group: ArrayLike | None = None,
    valid: Any = None,
    metric: str | Metric = "ndcg@10",
    seed: int = 0,
    search: str | Tuning = "grid",
    observers: tuple[Observer, ...] = (),
    start: Model | None = None,
    fitting: Fitting | None = None,
) -> Model:
    """Train a model: `train(data, "listnet")`, `train(frame, "listnet")` or `train(X, y, "listnet", qid=qid)`.

    `data`: a Dataset, a frame with columns label, qid and features, or features alone; rows may be in any order.
    `labels`: a label per row, if `data` is features alone.
    `method`: a method's name or specification, a learner, or a loss for a recipe; by default lambdamart, or shrunk for
        graded features of an index (`default_method`).
    `qid`: a query id per row, or `group` the sizes of consecutive queries, if `data` is features alone.
    `valid`: validation data as a Dataset, a frame, a tuple (features, labels, qid), or the fraction of the queries to
        hold out from the data for it, e.g. 0.2, as by `podium.data.hold_out`. It chooses hyperparameters, stops solvers
        with patience early, and calibrates the probabilities of ranks, by the temperature of `Model.distribution`.
    `metric`: what validation data chooses and stops by. If that has document weights and no labels, use
        `weighted-dcg@10`, or another cut-off.
    `seed`: of all that is random; the same seed gives the same model on any number of threads.
    `search`: how hyperparameters are tuned: by the method's grid, or e.g. `optuna`.
    `observers`: functions that get each `Step` of the iterations.
    `start`: a model to go on from, with its own method by default: trees are added to its trees, and the weights of
        other scorers are its weights at first. Its transform is not fitted again, and nothing is tuned.
    `fitting`: replaces `fit`, e.g. to fit each learner on a cluster.

    `model.info["trials"]` lists all trials of tuning, and `model.info["chosen"]` is the index of the chosen one; its
    value of the metric, `model.info["valid"]`, is optimistic, since it was chosen as the best.
    """
    seed = whole_number(seed, "seed", least=0)
    is_asked = method is not None or isinstance(labels, str | Method | Learner | Loss) or start is not None
    labels, chosen = labels_and_method(labels, method, default=None if start is None else start.learner)
    tune_by = Metric.parse(metric) if isinstance(metric, str) else metric
    table = labelled_data(data, labels, qid=qid, group=group)
    chosen = chosen if is_asked else named(default_method(table))
    training, held = _parts(table, valid, seed=seed)
    held = None if held is None else held.judged()
    by_weight = held is not None and held.document_weights is not None and isinstance(tune_by, WeightedDCG)
    if held is not None and by_weight:
        held = replace(held, labels=held.relevance(), document_weights=None, score_offsets=None)
    if start is not None:
        if fitting is not None:
            raise IncompatibleError("a model goes on in this process only: leave start or fitting out.")
        chosen, fitting = replace(chosen, grid={}), functools.partial(fit, learn=functools.partial(_go_on, start))
        training, held = start.align_features(training), None if held is None else start.align_features(held)
        check_start(chosen.learner, start)
    _check(training, held, chosen.learner, tune_by)
    fit_one = fitting or fit
    if held is None:
        model = fit_one(chosen.learner, training, metric=tune_by, seed=seed, observers=observers)
        return _finished(model, training)

    last: tuple[Params, Array] | None = None  # parameters of the last trial, and its scores of validation data

    @machine_code()
    def trial(learner: Learner) -> tuple[Model, Array]:
        nonlocal last
        model = fit_one(learner, training, valid=held, metric=tune_by, seed=seed, observers=observers)
        scores = model.score(held)
        last = model.params, scores
        values = query_values(tune_by, scores, held)
        return model.with_info(valid=tune_by.average(values).value), values

    tuning = Tuning.parse(search) if isinstance(search, str) else search
    worthwhile = chosen.without(lambda transform: not transform.worth_trying(training))
    tuned = tuning.run(worthwhile, trial, seed=seed) if start is None else trial(chosen.learner)[0]
    model = _finished(tuned, training)
    if by_weight:  # a temperature is fitted to grades, not to weights
        return model
    assert last is not None
    return with_temperature(model, held, last[1] if last[0] is model.params else model.score(held))


@machine_code()
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
    """Fit one learner once, without tuning; `learn` replaces learning in this process, e.g. by a cluster.

    Documents without a label (NaN) are left out, and counted in `info["unjudged"]`, unless the learner wants them.
    """
    unjudged, data = data.n_unjudged, _learned_from(data, learner)
    check_fit(learner, data)

    def watching(transform: Transform, state: State) -> Watch:
        return Watch(None if valid is None else transform.apply(state, valid), metric, observers)

    import scipy.linalg  # noqa: F401 (solvers use it; its BLAS has a limit only if it is loaded before)

    with one_blas_thread():
        learned, state = (learn or _learn)(learner, data, watching, seed)
    model = _fitted_model(learned, state, data, metric=metric, seed=seed)
    return model.with_info(unjudged=unjudged) if unjudged else model


def _learned_from(data: Dataset, learner: Learner) -> Dataset:
    """The documents that a learner learns from: those with a label, unless it wants the others too."""
    return data if learner.wants_unjudged else data.judged()


def _learn(learner: Learner, data: Dataset, watching: Watching, seed: int) -> tuple[Learned, State]:
    state = learner.transform.fit(data)
    watch = watching(learner.transform, state)
    return learner.learn(learner.transform.training(state, data), np.random.default_rng(seed), watch), state


def _go_on(start: Model, learner: Learner, data: Dataset, watching: Watching, seed: int) -> tuple[Learned, State]:
    """Learn from the parameters and with the transform of a fitted model."""
    watch = watching(learner.transform, start.state)
    ready = learner.transform.training(start.state, data)
    learned = learner.learn_on(start.params, ready, np.random.default_rng(seed), watch)
    return replace(learned, record={**learned.record, "from": start.info.get("data")}), start.state


def check_start(learner: Learner, start: Model) -> None:
    """Raise a clear error if a learner cannot go on from a model."""
    if not isinstance(learner, Recipe) or not isinstance(start.learner, Recipe):
        other = learner if not isinstance(learner, Recipe) else start.learner
        raise IncompatibleError(
            f"{other.name} cannot be gone on with: it is no recipe of a loss, a scorer and a solver. Train it anew, or "
            "put a method on top of the model: adapted."
        )
    mine, its = (
        (part.transform, part.scorer if isinstance(part.scorer, SmoothScorer) else type(part.scorer))
        for part in (learner, start.learner)
    )
    if mine != its:
        raise IncompatibleError(
            f"the model to go on from has scorer={start.learner.scorer} and transform={start.learner.transform}; got "
            f"scorer={learner.scorer} and transform={learner.transform}. Leave the method out: it is the model's."
        )


def check_fit(learner: Learner, data: Dataset) -> None:
    """Raise a clear error if a learner cannot be fitted to the data."""
    default_threads()  # raises if PODIUM_THREADS is not a number: now, and not only once data is large
    if data.categories and not learner.takes_categories:
        named = data.feature_names or tuple(str(column + 1) for column in range(data.n_features))
        raise IncompatibleError(
            f"{learner.name} with transform={learner.transform.name} takes numbers, but these features have "
            f"categories: {', '.join(named[column] for column in sorted(data.categories)[:5])}. Use trees "
            "(lambdamart), or turn them into numbers: transform=one-hot or transform=target-statistics."
        )
    if data.document_weights is not None and not learner.takes_document_weights:
        raise IncompatibleError(
            f"{learner.name} has no document weights. Leave them out, or use a loss with a scorer and a "
            "solver, such as ranknet or lambdamart."
        )
    if data.row_weights is not None and not learner.takes_row_weights:
        raise IncompatibleError(
            f"{learner.name} has no weights of rows; they multiply the gradients of boosted trees, as in LightGBM. Use "
            "lambdamart or scorer=trees, or weights of queries, the same for all rows of each."
        )
    if data.positions is not None and not learner.takes_positions:
        raise IncompatibleError(
            f"{learner.name} cannot leave out the bias of positions. Use boosted trees such as lambdamart, weight "
            "clicks by propensities (podium train --clicks), or leave the positions out and learn from the labels."
        )
    if data.base_scores is not None and not learner.takes_base_scores:
        raise IncompatibleError(
            f"{learner.name} cannot add to base scores. Leave them out, or use a loss with a scorer and a solver, such "
            "as listnet or lambdamart."
        )
    if data.query_weights is not None and data.n_queries and not data.query_weights.any():
        raise DataError("the weight of every query is zero, so there is nothing to learn from.", where=data.source)
    learner.check(data)


def _fitted_model(learned: Learned, state: State, data: Dataset, *, metric: Metric, seed: int) -> Model:
    """The model, with the record of its training in `info`."""
    info: dict[str, Any] = {
        "podium": version(),
        "seed": seed,
        "data": data.digest(),
        "metric": str(metric),
        **({} if data.info is None else {"features": dict(data.info)}),
        **learned.record,
    }
    state = state if learned.state is None else learned.state
    return Model(
        learned.learner, learned.params, state, data.n_features, data.feature_names, info, categories=data.categories
    )


def with_temperature(model: Model, valid: Dataset, scores: Array) -> Model:
    """The model with the temperature that fits its validation scores best; unchanged if no query has two grades."""
    fitted = fit_temperature(valid.added_to_base(scores), valid)
    if fitted is None:
        return model
    return model.with_info(distribution=repr(fitted.distribution), temperature=fitted.temperature)


def measured(model: Model, data: Dataset, metric: Metric) -> float:
    """Mean of a metric for a model on data, over the queries that count."""
    return mean_metric(metric, model.score(data), data)


def labels_and_method(
    labels: ArrayLike | str | Method | Learner | Loss | None,
    method: str | Method | Learner | Loss | None,
    *,
    default: Learner | None = None,
) -> tuple[ArrayLike | None, Method]:
    """Normalise the two call forms, `train(data, method)` and `train(X, y, method)`; a loss is that of a recipe."""
    if isinstance(labels, str | Method | Learner | Loss):
        if method is not None:
            raise ParameterError(f"two methods, {labels} and {method}; labels are numbers, one per row.")
        labels, method = None, labels
    method = default if method is None else method
    if isinstance(method, Loss):
        method = Recipe(loss=method)
    if isinstance(method, Learner):
        method = Method(method, method.grid())
    if not isinstance(method, Method | str | None):
        raise ParameterError(f"a method is a name, a Method, a Learner or a Loss; got {type(method).__name__}.")
    return labels, method if isinstance(method, Method) else named(method or DEFAULT)


def default_method(data: Table) -> str:
    """The method for data if none is asked for: for graded features of an index, shrunk towards its first stage."""
    others = (data.document_weights, data.row_weights, data.base_scores, data.positions, data.categories)
    is_graded = data.labels is not None and all(other is None for other in others)
    return "shrunk" if is_graded and "first_stage" in (data.info or {}) else DEFAULT


def _finished(model: Model, data: Dataset) -> Model:
    """The model with a sample of the queries that it learned from; warns if it ranks nothing."""
    _warn_if_constant(model, data)
    return model.with_info(queries=sample_queries(data))


def _parts(data: Dataset, valid: Any, *, seed: int) -> tuple[Dataset, Dataset | None]:
    """Training and validation data."""
    if valid is None:
        return data, None
    if isinstance(valid, bool) or not isinstance(valid, numbers.Real):
        return data, aligned_categories(align_features(_validation(valid), data.feature_names), data.categories)
    if data.labels is None and data.document_weights is None:
        raise DataError("there are no labels, which validation data needs: give valid=None.", where=data.source)
    training, held = hold_out(data, float(valid), seed=seed)
    if held is None:
        warnings.warn(
            f"valid={valid}: no query is held out, since fewer than {LEAST_DECIDING} have documents of different "
            "labels. The model has default hyperparameters, and no metric on validation data.",
            PodiumWarning,
            stacklevel=3,
        )
    return training, held


def _validation(valid: Any) -> Dataset:
    """Validation data as a dataset."""
    if isinstance(valid, tuple):
        if len(valid) != 3:
            raise DataError(f"validation arrays are a tuple (features, labels, qid); got {len(valid)} parts.")
        return labelled_data(valid[0], valid[1], qid=valid[2])
    return labelled_data(valid)


def _warn_if_constant(model: Model, data: Dataset) -> None:
    """Warn that a model ranks nothing, if all documents of the training data get the same score."""
    first = data.select(np.arange(min(int(np.searchsorted(data.offsets, _MANY)), data.n_queries)))
    if data.n_documents == 1 or np.ptp(model.score(first)) > 0 or np.ptp(model.score(data)) > 0:
        return
    warnings.warn(
        f"{model.learner}: the model gives all {data.n_documents} documents of the training data the same score, so "
        "it ranks nothing. Features may be constant, documents too few for trees (lower min_data_in_leaf), or no label "
        "relevant to the loss: see podium.check.",
        PodiumWarning,
        stacklevel=4,
    )


_MANY = 100
"""Documents to score first: enough to see that most models are not constant."""


def _check(data: Dataset, valid: Dataset | None, learner: Learner, metric: Metric) -> None:
    if data.n_documents == 0:
        raise DataError("there is no document to learn from.", where=data.source)
    check_fit(learner, _learned_from(data, learner))
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
    # any scores will do; this also refuses labels without a gain
    if np.isnan(mean_metric(metric, np.arange(valid.n_documents, 0.0, -1.0), valid)):
        raise DataError(
            f"no query of the validation data counts for {metric}: there is nothing relevant to find in any. "
            "Give other validation data, or none.",
            where=valid.source,
        )
