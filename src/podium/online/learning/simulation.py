"""Simulation of online learning to rank: a learner shows results pages to simulated users, query after query.

>>> from podium.data.synthetic import make_letor_like
>>> from podium.data.splits import split
>>> data, _ = make_letor_like(60, (8, 12), n_features=8, seed=1)
>>> train, test = split(data, (0.7, 0.3))
>>> run = learn_online("pdgd", train, test, steps=300, every=100)
>>> run.steps.tolist(), bool(run.ndcg[-1] > run.ndcg[0])
([0, 100, 200, 300], True)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from podium.base.arguments import random_numbers
from podium.base.arrays import Array, Bytes, Ints
from podium.base.errors import DataError, ParameterError
from podium.clicks.log.click_log import ClickLog
from podium.clicks.models.base import ClickModel
from podium.clicks.simulate import click_chance, examination_curve
from podium.data.dataset import Dataset
from podium.data.table import Table
from podium.metrics import NDCG, mean
from podium.model import Model
from podium.online.learning.base import OnlineLearner, start
from podium.scorers import Scorer

CUTOFF = 10


@dataclass(frozen=True, eq=False)
class OnlineRun:
    """Result of a simulation: the learned model, and the quality of the pages that users saw."""

    model: Model
    steps: Ints  # (M,) after which NDCG was computed
    ndcg: Array  # (M,) mean NDCG@10 of its ranking on held-out queries
    shown: Array  # (T,) NDCG@10 of each page that was shown; NaN if the query has no relevant document

    @property
    def regret(self) -> Array:
        """Cumulative regret: NDCG@10 lost up to each step, compared with the best pages."""  # (T,)
        return np.asarray(np.cumsum(1.0 - np.where(np.isnan(self.shown), 1.0, self.shown)))

    def online_performance(self, discount: float = 0.9995) -> float:
        """Discounted online performance: Σ discount^t · NDCG@10 of the page at step t."""
        return float(np.nan_to_num(self.shown) @ discount ** np.arange(len(self.shown)))


def learn_online(
    learner: OnlineLearner | str,
    data: Table,
    test: Table,
    *,
    steps: int,
    every: int = 100,
    scorer: Scorer | str = "linear",
    model: Model | None = None,
    people: ClickModel | str = "pbm",
    eta: float = 1.0,
    noise: float = 0.1,
    length: int = CUTOFF,
    seed: int = 0,
) -> OnlineRun:
    """Show `steps` results pages of random queries to simulated users, and learn from each.

    Users click as in `simulate`: by the click model `people`, with examination probability k^−eta at rank k and
    probability noise + (1 − noise) · grade/largest grade of a click on an examined document. Learning starts from
    `model`, by default from an untrained `scorer`. NDCG@10 on `test` is computed every `every` steps.
    """
    if steps < 1 or every < 1 or length < 1:
        raise ParameterError(f"steps, every and length must be at least 1; got {steps}, {every} and {length}.")
    chosen = OnlineLearner.parse(learner) if isinstance(learner, str) else learner
    data, test = data.grouped(), test.grouped()
    users = _Users(data, people, eta=eta, noise=noise, length=length)
    rng = random_numbers(seed)
    now = start(data, scorer, seed=seed) if model is None else model
    queries = [data.select([q]) for q in range(data.n_queries)]
    measured, curve, places, sizes, labels = [0], [_quality(now, test)], [], [], []
    for t in range(1, steps + 1):
        q = int(rng.integers(data.n_queries))
        page = chosen.page(now, queries[q], rng, length=length)
        clicks = users.clicks(int(data.offsets[q]) + page.rows, rng)
        now = chosen.step(now, page, (np.flatnonzero(clicks) + 1).tolist())
        place = np.full(queries[q].n_documents, -1.0 - len(page.rows))
        place[page.rows] = -np.arange(1.0, len(page.rows) + 1)
        places.append(place)
        sizes.append(len(place))
        labels.append(_grades(queries[q]))
        if t % every == 0 or t == steps:
            measured.append(t)
            curve.append(_quality(now, test))
    shown = NDCG(cutoff=CUTOFF)(np.concatenate(places), np.concatenate(labels), np.concatenate(([0], np.cumsum(sizes))))
    learned = now.with_info(steps=steps, learner=repr(chosen), people=str(people))
    return OnlineRun(learned, np.array(measured), np.array(curve), np.asarray(shown))


class _Users:
    """Simulated users, who click by a click model."""

    def __init__(self, data: Dataset, people: ClickModel | str, *, eta: float, noise: float, length: int) -> None:
        self.model = ClickModel.parse(people) if isinstance(people, str) else people
        self.params = self.model.planted(click_chance(data, noise=noise), examination_curve(length, eta=eta))
        self.names = np.zeros(1, object)

    def clicks(self, rows: Ints, rng: np.random.Generator) -> Bytes:
        pairs, query = rows.astype(np.int32), np.zeros(1, np.int32)
        offsets = np.array([0, len(rows)])
        log = ClickLog(pairs, np.zeros(len(rows), np.uint8), offsets, query, query, self.names, self.names)
        return self.model.draw(self.params, pairs, log, rng.random(len(rows)))


def _quality(model: Model, test: Dataset) -> float:
    return float(mean(NDCG(cutoff=CUTOFF)(model.score(test), _grades(test), test.offsets)).value)


def _grades(data: Dataset) -> Array:
    if data.labels is None:
        raise DataError("an online experiment needs judged data: simulated users click by grades.", where=data.source)
    return data.labels
