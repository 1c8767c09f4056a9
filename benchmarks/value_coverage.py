"""How often the 95 % intervals of `podium value` hold the truth, with propensities estimated from the same log.

    python -m benchmarks.value_coverage [--logs 200] [--pages 4000] [--estimators ips,snips,dr] [HOW …]

Each log is simulated, its propensities estimated, written and read, and the value of two rankers estimated, as the
commands do it: `podium clicks propensity LOG --how HOW -o theta.json`, `podium value A B LOG --propensities
theta.json`. Printed are the shares of logs whose interval holds the true value of a ranker, that of what was shown and
the true difference, and beside them the shares if propensities are taken as known. Wanted are 90 to 98 %. It takes
about 15 minutes.
"""

from __future__ import annotations

import argparse
import dataclasses
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import podium
from podium.clicks import ClickLog, simulate
from podium.clicks.propensity_file import Propensities, read_propensities
from podium.clicks.simulate import click_chance
from podium.counterfactual import LOGGED, Discount, Values, value
from podium.propensities import propensities

DEPTH = 6
HOWS = ["harvest", "swap", "randomised", "trust"]
WHAT = ["new", LOGGED, "difference"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hows", nargs="*", metavar="HOW", help=", ".join(HOWS))
    parser.add_argument("--logs", type=int, default=200)
    parser.add_argument("--pages", type=int, default=4000)
    parser.add_argument("--estimators", default="ips,snips,dr", help="of values, separated by commas")
    parser.add_argument("--other", action="store_true", help="take the propensities from another log")
    asked = parser.parse_args()
    print(f"{asked.logs} logs of {asked.pages} pages; {', '.join(WHAT)}: with errors of propensities (as known)")
    for how in asked.hows or HOWS:
        world = World(how, asked.estimators.split(","))
        held = np.array([world.held(asked.pages, seed, other=asked.other) for seed in range(asked.logs)])
        for k, estimator in enumerate(world.estimators):
            shares = [f"{held[:, k, 0, j].mean():.3f} ({held[:, k, 1, j].mean():.3f})" for j in range(len(WHAT))]
            print(f"{how:12s}{estimator:8s}" + "   ".join(shares), flush=True)


class World:
    """Queries whose relevance is known, and two rankers."""

    def __init__(self, how: str, estimators: list[str]) -> None:
        self.how, self.estimators = how, estimators
        self.data, _ = podium.make_letor_like(40, (DEPTH, DEPTH), n_features=8, seed=1)
        columns = np.asarray(self.data.features, np.float64)
        self.logging = [columns[:, 0], columns[:, 5]]
        self.runs = {name: podium.Run.from_scores(self.data, columns[:, j]) for name, j in (("new", 2), ("other", 3))}
        self.truth = self._truth()

    def held(self, pages: int, seed: int, *, other: bool) -> NDArray[np.bool_]:
        """Whether each interval holds the truth: of each estimator, with and without errors of propensities."""
        log = self.log(pages, seed)
        source = self.log(pages, seed + 1_000_000) if other else log
        asked = f"{self.how}(draws=0)" if self.how in ("harvest", "trust") else self.how
        curve = propensities(source, asked, self.data if self.how == "trust" else None)
        with tempfile.TemporaryDirectory() as folder:
            curve.write(Path(folder) / "theta.json")
            curve = read_propensities(Path(folder) / "theta.json")
        known = dataclasses.replace(curve, alpha_draws=None, beta_draws=None)
        found = np.empty((len(self.estimators), 2, len(WHAT)), np.bool_)
        for k, estimator in enumerate(self.estimators):
            for j, one in enumerate((curve, known)):
                made = value(log, self.runs, propensities=one, how=estimator, clip=0.0)
                found[k, j] = _holds(made, self.truth)
        return found

    def log(self, pages: int, seed: int) -> ClickLog:
        """A log with the interventions that the estimator needs."""
        rankers = {"swap": self.logging[:1], "randomised": []}.get(self.how, self.logging)
        log = simulate(self.data, rankers, pages=pages, depth=DEPTH, seed=seed)
        rng = np.random.default_rng([seed, 1])
        if self.how == "swap":
            log = _swapped(log, rng)
        rank = log.ranks().astype(np.float64)
        chance = self.relevance(log)[log.pairs] / rank
        if self.how == "trust":
            chance = 0.8 * self.relevance(log)[log.pairs] / rank**0.5 + 0.1 / rank
        return log.with_clicks(rng.random(len(rank)) < chance)

    def relevance(self, log: ClickLog) -> NDArray[np.float64]:
        """P(relevant) of each pair of a log; P(click at rank 1) without trust bias."""
        pair = log.find_pairs(self.data.query_ids[self.data.query_index], self.data.document_ids)
        found = np.zeros(log.n_pairs)
        found[pair[pair >= 0]] = click_chance(self.data, noise=0.0 if self.how == "trust" else 0.1)[pair >= 0]
        return found

    def _truth(self) -> dict[str, float]:
        """The true values of the rankers and of what is shown, on queries that are asked equally often."""
        chance = podium.Run.from_scores(self.data, click_chance(self.data, noise=0.0 if self.how == "trust" else 0.1))
        flat, log = Propensities.of_theta(np.ones(DEPTH), how="known"), self.log(300_000, 7_000_000)
        names = [
            (self.data.query_name(q), self.data.document_name(int(row))) for q, row in enumerate(self.data.offsets[:-1])
        ]
        once = ClickLog.from_pages([(query, [document], [1]) for query, document in names])
        exact = value(once, self.runs, propensities=flat, how="dm", relevance=chance)
        shown = Discount.parse("dcg@10").of(log.ranks()) @ self.relevance(log)[log.pairs] / log.n_pages
        return {"new": exact["new"].value, "other": exact["other"].value, LOGGED: float(shown)}


def _holds(found: Values, truth: dict[str, float]) -> list[bool]:
    difference = found.difference("new", "other")
    wanted = truth["new"] - truth["other"]
    held = [found[name].low <= truth[name] <= found[name].high for name in ("new", LOGGED)]
    return [*held, difference.low <= wanted <= difference.high]


def _swapped(log: ClickLog, rng: np.random.Generator) -> ClickLog:
    """Pages in one order, on four in five of which rank 1 and one of the others change places."""
    pairs = log.pairs.copy()
    turned = np.flatnonzero(rng.random(log.n_pages) < 0.8)
    top, low = log.offsets[turned], log.offsets[turned] + rng.integers(1, DEPTH, len(turned))
    pairs[top], pairs[low] = pairs[low], pairs[top]
    return dataclasses.replace(log, pairs=pairs, rankers=None, ranker_names=())


if __name__ == "__main__":
    main()
