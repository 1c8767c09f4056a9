"""Contract suite of click models: probabilities that sum to 1, a non-decreasing objective, no effect of page order."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

from podium.base.errors import ConvergenceWarning
from podium.clicks.log.click_log import ClickLog
from podium.clicks.models.base import ClickModel, Fitted
from podium.clicks.models.em import IteratedModel
from podium.testing.examples import size, threads
from podium.testing.names import page_has_headings, text_gives_it_back
from podium.testing.numbers import near


def check_click_model(model: ClickModel) -> None:
    """Run every check of click models."""
    for check in CLICK_MODEL_CHECKS.values():
        check(model)


def draw_log(rng: np.random.Generator, *, queries: int = 4, pages: int = 60, longest: int = 6) -> ClickLog:
    """Random pages of changing length, with documents in random order and any clicks, also none and all."""
    drawn = []
    for page in range(pages):
        n = int(rng.integers(1, longest + 1))
        documents = [f"d{d}" for d in rng.permutation(longest + 2)[:n]]
        rate = (0.0, 1.0, 0.3, 0.5)[page % 4]
        drawn.append((f"q{rng.integers(queries)}", documents, (np.flatnonzero(rng.random(n) < rate) + 1).tolist()))
    return ClickLog.from_pages(drawn)


def its_page_has_the_fixed_headings(model: ClickModel) -> None:
    """Formula, cost, use and reference, in this order."""
    page_has_headings(model, ("Formula", "Cost", "Use it for", "Reference"))


def the_objective_never_falls(model: ClickModel) -> None:
    """With and without a prior, accelerated and not."""
    rng = np.random.default_rng(0)
    for prior, plain in itertools.product((0.0, 1.0, 0.01), (True, False)):
        variant = dataclasses.replace(model, prior=prior)
        if isinstance(variant, IteratedModel):
            variant = dataclasses.replace(variant, accelerate=not plain, tolerance=0.0, iterations=40)
        for _ in range(4):
            history = variant.fit(draw_log(rng)).history
            assert np.isfinite(history).all(), f"{variant}: the objective is {history}"
            fall = np.diff(history).min(initial=0.0)
            assert fall >= -1e-9 * abs(history[-1]), f"{variant}: the objective falls by {-fall}"


def the_objective_is_that_of_its_predictions(model: ClickModel) -> None:
    """The last J is the log-likelihood of its predictions, with the prior of every parameter."""
    log = draw_log(np.random.default_rng(12))
    for prior in (0.01, 1.0):
        fitted = dataclasses.replace(model, prior=prior).fit(log)
        used = fitted.model.usable(log)
        chance = fitted.predict(used).conditional
        with np.errstate(divide="ignore"):
            value = np.where(used.clicks == 1, np.log(chance), np.log1p(-chance)).sum()
        value += prior * sum((np.log(p) + np.log1p(-p)).sum() for p in fitted.params.values())
        near(fitted.history[-1], value, 1e-9, f"{model}: the objective")


def parameters_are_probabilities(model: ClickModel) -> None:
    """Also without a prior, with which some are 0 or 1."""
    for prior in (0.0, 1.0):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # without a prior EM may go on towards 0 and 1
            fitted = dataclasses.replace(model, prior=prior).fit(draw_log(np.random.default_rng(1)))
        for name, values in fitted.params.items():
            assert ((values >= 0) & (values <= 1)).all(), f"{model}: {name} is {values}"


def all_click_patterns_together_have_probability_one(model: ClickModel) -> None:
    """Pages of up to six documents; and P(click) is the sum over the patterns that have it."""
    rng = np.random.default_rng(2)
    fitted = model.fit(draw_log(rng))
    for n in range(1, 7):
        documents = [f"d{d}" for d in rng.permutation(8)[:n]]
        patterns = list(itertools.product((0, 1), repeat=n))
        pages = [("q1", documents, (np.flatnonzero(pattern) + 1).tolist()) for pattern in patterns]
        expected = fitted.predict(ClickLog.from_pages(pages))
        conditional, clicked = expected.conditional.reshape(-1, n), np.array(patterns)
        chance = np.where(clicked == 1, conditional, 1.0 - conditional).prod(axis=1)
        near(chance.sum(), 1.0, 1e-12, f"{model}: the probabilities of all patterns of {n} documents")
        near(expected.marginal.reshape(-1, n)[0], chance @ clicked, 1e-12, f"{model}: P(click)")


def order_of_pages_and_threads_change_no_bit(model: ClickModel) -> None:
    """Pages in another order, on one thread or three, of a log that fills several blocks."""
    log, mixed = _large_logs()
    if isinstance(model, IteratedModel):
        model = dataclasses.replace(model, iterations=6, tolerance=0.0)
    with threads(1):
        first = model.fit(log)
    with threads(3):
        second = model.fit(mixed)
    _same_bits(first, second, f"{model}: another order of pages on three threads")


def equal_pages_may_be_counted(model: ClickModel) -> None:
    """A page that occurs k times is one page with the count k."""
    log = draw_log(np.random.default_rng(4), pages=30)
    counts = np.random.default_rng(5).integers(1, 4, log.n_pages)
    repeated = log.select(np.repeat(np.arange(log.n_pages), counts))
    counted = dataclasses.replace(log, counts=counts.astype(np.float64))
    _same_bits(model.fit(repeated), model.fit(counted), f"{model}: pages with counts")


def a_plain_and_an_accelerated_fit_end_at_the_same_objective(model: ClickModel) -> None:
    """If it is fitted by EM."""
    if not isinstance(model, IteratedModel):
        return
    log = draw_log(np.random.default_rng(6), pages=200)
    fast, slow = (
        dataclasses.replace(model, accelerate=way, iterations=20_000, tolerance=1e-13).fit(log) for way in (True, False)
    )
    near(fast.history[-1], slow.history[-1], 1e-6, f"{model}: the objective, accelerated and not")
    assert len(fast.history) < len(slow.history) or len(slow.history) < 20, f"{model}: acceleration takes more steps"


def simulated_clicks_follow_their_probabilities(model: ClickModel) -> None:
    """The share of clicks at each rank is within 4 standard errors of P(click); a new fit predicts as the old one."""
    log = _log_of_five_ranks()
    planted = _planted(model, log)
    drawn = planted.draw(log, seed=8)
    expected = planted.predict(log).marginal.reshape(-1, 5)
    share, chance = drawn.clicks.reshape(-1, 5).mean(axis=0), expected.mean(axis=0)
    error = 4.0 * np.sqrt(chance * (1.0 - chance) / log.n_pages) + 1e-12
    assert (np.abs(share - chance) <= error).all(), f"{model}: clicks at ranks {share}, expected {chance}"
    again = model.fit(drawn).predict(log).marginal.reshape(-1, 5)
    if model.consistent:
        assert np.abs(again - expected).mean() < 1.4 / np.sqrt(log.n_pages), (
            f"{model}: a fit of its own clicks predicts others"
        )
    same, different = planted.draw(log, seed=8), planted.draw(log, seed=9)
    assert (same.clicks == drawn.clicks).all(), f"{model}: the same seed gives other clicks"
    assert (different.clicks != drawn.clicks).any(), f"{model}: another seed gives the same clicks"


def a_file_gives_it_back(model: ClickModel) -> None:
    """Saved and loaded, it predicts the same, and is written with the same bytes."""
    log = draw_log(np.random.default_rng(9))
    fitted = model.fit(log)
    with tempfile.TemporaryDirectory() as folder:
        first, second = Path(folder) / "first.podium", Path(folder) / "second.podium"
        fitted.save(first)
        loaded = Fitted.load(first)
        loaded.save(second)
        assert first.read_bytes() == second.read_bytes(), f"{model}: saved again, the file differs"
    assert loaded.model == model, f"{model} is loaded as {loaded.model}"
    _same_bits(fitted, loaded, f"{model}: after loading")
    assert (loaded.predict(log).conditional == fitted.predict(log).conditional).all()


def unknown_pairs_and_longer_pages_are_predicted(model: ClickModel) -> None:
    """Documents and ranks that the log did not have get probabilities too."""
    fitted = model.fit(draw_log(np.random.default_rng(10)))
    other = ClickLog.from_pages([("q1", [f"new{d}" for d in range(60)], [1, 3, 60]), ("new", ["d1"], [])])
    expected = fitted.predict(other)
    for name in ("conditional", "marginal", "examined"):
        values = getattr(expected, name)
        assert ((values >= 0) & (values <= 1)).all(), f"{model}: {name} is {values}"


CLICK_MODEL_CHECKS: dict[str, Callable[[ClickModel], None]] = {
    check.__name__: check
    for check in (
        text_gives_it_back, its_page_has_the_fixed_headings, the_objective_never_falls,
        the_objective_is_that_of_its_predictions, parameters_are_probabilities,
        all_click_patterns_together_have_probability_one, order_of_pages_and_threads_change_no_bit,
        equal_pages_may_be_counted, a_plain_and_an_accelerated_fit_end_at_the_same_objective,
        simulated_clicks_follow_their_probabilities, a_file_gives_it_back,
        unknown_pairs_and_longer_pages_are_predicted,
    )
}  # fmt: skip
"""Checks of every click model, by name: click model → None."""


def _planted(model: ClickModel, log: ClickLog) -> Fitted:
    """Fitted model with planted parameters."""
    fitted = model.fit(log)
    alpha = np.random.default_rng(11).uniform(0.1, 0.9, log.n_pairs)
    return dataclasses.replace(fitted, params=model.planted(alpha, np.asarray(np.arange(1, 6) ** -0.7, np.float64)))


@functools.cache
def _log_of_five_ranks() -> ClickLog:
    rng = np.random.default_rng(7)
    pages = [(f"q{rng.integers(5)}", [f"d{d}" for d in rng.permutation(8)[:5]], [1]) for _ in range(size(20_000, 300))]
    return ClickLog.from_pages(pages)


@functools.cache
def _large_logs() -> tuple[ClickLog, ClickLog]:
    """A log, and its pages in another order."""
    rng, pages, n, queries = np.random.default_rng(3), size(24_000, 60), 10, size(4000, 10)
    query = rng.integers(0, queries, pages)
    documents = rng.random((pages, 14)).argsort(axis=1)[:, :n] + 14 * query[:, None]
    log = ClickLog.from_codes(
        (query, [f"q{q}" for q in range(queries)]),
        (documents.ravel(), [f"d{d}" for d in range(14 * queries)]),
        offsets=np.arange(pages + 1) * n,
        clicks=(rng.random(pages * n) < 0.2).astype(np.uint8),
    )
    return log, _reordered(log, rng.permutation(pages))


def _reordered(log: ClickLog, order: np.ndarray) -> ClickLog:
    """The pages in another order, numbered anew."""
    pages = [
        (
            str(log.query_ids[log.page_query[p]]),
            log.document_ids[log.pairs[log.offsets[p] : log.offsets[p + 1]]].tolist(),
            (np.flatnonzero(log.clicks[log.offsets[p] : log.offsets[p + 1]]) + 1).tolist(),
        )
        for p in order
    ]
    return ClickLog.from_pages(pages)


def _same_bits(first: Fitted, second: Fitted, when: str) -> None:
    assert first.params.keys() == second.params.keys()
    for name, values in first.params.items():
        assert values.tobytes() == second.params[name].tobytes(), f"{when}: {name} differs"
    assert first.history.tobytes() == second.history.tobytes(), f"{when}: the objective differs"
