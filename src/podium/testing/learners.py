"""Contract suite of learners: it learns or says why not, and one seed gives the same model on any threads."""

from __future__ import annotations

import functools
import re
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from podium.base.arrays import Array
from podium.base.errors import PodiumError
from podium.data.dataset import Dataset
from podium.learner import Learner
from podium.metrics import Metric
from podium.model import Model
from podium.testing.examples import linear_data, short, threads
from podium.testing.names import text_gives_it_back
from podium.testing.numbers import near
from podium.testing.refusals import is_clear, refused
from podium.testing.unusual_data import HOPELESS, UNUSUAL, USABLE, a_million_documents
from podium.training import fit, train


def check_learner(learner: Learner, *, reaches: float = 0.8, supervised: bool = True) -> None:
    """Run every check of learners; `reaches` is for `it_learns`; one that is not `supervised` ignores labels."""
    for check in LEARNER_CHECKS.values():
        check(learner)
    for make in (*USABLE, *UNUSUAL):
        unusual_data_is_learned_from_or_refused(learner, make, must_learn=make in USABLE)
    if supervised:
        it_learns(learner, reaches)
        row_order_does_not_matter(learner)
        for make in HOPELESS:
            hopeless_data_is_refused(learner, make)


def it_learns(learner: Learner, reaches: float = 0.8) -> None:
    """In twenty iterations it goes this share of the way from random scores to the planted truth, on new queries.

    Measured by NDCG@10 on data that a linear utility with some noise has graded.
    """
    new = linear_data(30, 20, n_features=4, seed=7)
    truth = _ndcg(new.features @ np.linspace(1.0, -1.0, 4), new)
    chance = float(np.mean([_ndcg(train(_data(), "random", seed=seed).score(new), new) for seed in range(20)]))
    share = (_ndcg(_trained(learner).score(new), new) - chance) / (truth - chance)
    assert share >= reaches, f"{learner} goes {share:.3f} of the way from chance to the truth, less than {reaches}"


def scores_are_one_finite_number_per_document(learner: Learner) -> None:
    """A float64 for each document, which are not all the same."""
    scores = _trained(learner).score(_data())
    assert scores.shape == (_data().n_documents,), f"scores have shape {scores.shape}"
    assert scores.dtype == np.float64, f"scores are {scores.dtype}"
    assert np.isfinite(scores).all(), "scores are not finite"
    assert len(np.unique(scores)) > 1, "all scores are equal"


def a_file_gives_the_model_back(learner: Learner) -> None:
    """A saved model scores to the same bits, and is saved to the same bytes."""
    model = _trained(learner)
    with tempfile.TemporaryDirectory() as folder:
        first, second = Path(folder, "one"), Path(folder, "two")
        model.save(first)
        loaded = Model.load(first)
        loaded.save(second)
        assert first.read_bytes() == second.read_bytes(), "a loaded model is saved to other bytes"
    assert loaded.score(_data()).tobytes() == model.score(_data()).tobytes(), "a loaded model scores otherwise"
    assert loaded.learner == model.learner, f"{model.learner} is loaded as {loaded.learner}"
    assert loaded.info == model.info, "a loaded model was made otherwise"


def one_seed_gives_one_file_on_any_number_of_threads(learner: Learner) -> None:
    """Trained on one thread and on two, the files of the models are equal."""
    data, files = linear_data(100, 90, n_features=4), []  # several blocks of rows and of queries
    with tempfile.TemporaryDirectory() as folder:
        for number in (1, 2):
            with threads(number):
                fit(short(learner, 4), data, metric=_METRIC, seed=3).save(Path(folder, str(number)))
            files.append(Path(folder, str(number)).read_bytes())
    assert files[0] == files[1], "threads change the model"


def row_order_does_not_matter(learner: Learner) -> None:
    """Queries and documents in another order give the same scores, or, if it draws at random, equally good ones."""
    data, rng = _data(), np.random.default_rng(0)
    rows = np.concatenate([rng.permutation(np.arange(a, a + 20)) for a in 20 * rng.permutation(data.n_queries)])
    assert data.labels is not None
    shuffled = Dataset.from_arrays(data.features[rows], data.labels[rows], qid=data.query_index[rows]).grouped()
    here, there = _trained(learner).score(data), fit(short(learner, 20), shuffled, metric=_METRIC).score(data)
    if np.array_equal(fit(short(learner, 20), data, metric=_METRIC, seed=1).score(data), here):
        near(there, here, 1e-3, "scores after training on rows in another order")
    else:  # it visits queries in random order, so that another order is another draw
        near(_ndcg(there, data), _ndcg(here, data), 0.05, "NDCG@10 after training on rows in another order")


def queries_are_scored_alone(learner: Learner) -> None:
    """A query's scores do not depend on the other queries of the data."""
    if repr(learner) == "random":
        return
    model, data = _trained(learner), _data()
    rows = slice(data.offsets[7], data.offsets[8])
    near(model.score(data.select([7])), model.score(data)[rows], 1e-9, "scores of one query alone")


def other_features_are_refused(learner: Learner) -> None:
    """Data with another number of features than it was trained with is refused, and so is data without documents."""
    fewer, none = linear_data(n_features=3), Dataset.from_arrays(np.empty((0, 4)), [])
    says = "3 features, but the model was trained with 4. Score data with the same features"
    refused(lambda: _trained(learner).score(fewer), says=says, when="data with 3 features")
    refused(lambda: train(none, learner), says="no document to learn from", when="no documents")


def unusual_data_is_learned_from_or_refused(
    learner: Learner, make: Callable[[], Dataset], *, must_learn: bool = False
) -> None:
    """Finite scores and parameters, or one clear line before work starts; with `must_learn`, a refusal is a defect."""
    data, quick = make(), short(learner, 3)
    try:
        quick.check(data)
        quick.transform.fit(data)
    except PodiumError as error:
        is_clear(error)
        assert not must_learn, f"{learner} refuses {make.__name__}: {error}"
        return
    model = fit(quick, data, metric=_METRIC)
    assert np.isfinite(model.score(data)).all(), f"{make.__name__}: scores are not finite"
    for name, array in model.params.items():
        assert array.dtype.kind != "f" or np.isfinite(array).all(), f"{make.__name__}: {name} is not finite"


def hopeless_data_is_refused(learner: Learner, make: Callable[[], Dataset]) -> None:
    """Data without anything to learn from is refused before work starts."""
    refused(lambda: learner.check(make()), says=HOPELESS[make], when=f"{learner} on {make.__name__}")


def memory_is_counted_before_work_starts(learner: Learner) -> None:
    """A million documents are accepted, or refused with the memory that they would take."""
    try:
        learner.check(a_million_documents())
    except PodiumError as error:
        is_clear(error)
        assert re.search(r"\d GB", str(error)), f"a million documents are refused without a number of GB: {error}"


LEARNER_CHECKS: dict[str, Callable[[Learner], None]] = {
    check.__name__: check
    for check in (
        text_gives_it_back, scores_are_one_finite_number_per_document, a_file_gives_the_model_back,
        one_seed_gives_one_file_on_any_number_of_threads, queries_are_scored_alone, other_features_are_refused,
        memory_is_counted_before_work_starts,
    )
}  # fmt: skip
"""Checks of every learner, by name: learner → None. `check_learner` adds those with more arguments."""

_METRIC = Metric.parse("ndcg@10[floor=0]")


@functools.cache
def _data() -> Dataset:
    return linear_data(30, 20, n_features=4)


@functools.cache
def _trained(learner: Learner) -> Model:
    """Model of few iterations: convergence is in the contract of solvers."""
    return fit(short(learner, 20), _data(), metric=_METRIC)


def _ndcg(scores: Array, data: Dataset) -> float:
    assert data.labels is not None
    return float(np.nanmean(_METRIC(scores, data.labels, data.offsets)))
