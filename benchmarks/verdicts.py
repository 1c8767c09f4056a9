"""False alarms and power of interleaving's verdicts, at one planned look and after every page.

    python -m benchmarks.verdicts [--experiments 400] [--pages 400]

People click by rank alone: a verdict for either ranker is a false alarm, of which 5 % are allowed. Then they click by
relevance: how often the better ranker is found, by the same two tests on the same pages. Last, users who see several
pages each and prefer one ranker or the other for good, with no preference on average. It takes about ten minutes.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.measured import measured
from podium.online.confidence_sequence import confidence_sequence
from podium.online.interleaving import make_page
from podium.online.verdict import verdict

METHODS = ["team-draft", "probabilistic", "optimised"]
BASE = list("abcdefghij")
NULL = {"one document moved": list("acdebfghij"), "unequal lists": BASE[:3], "equal lists": BASE}
WORSE = {"one document moved": list("acdebfghij"), "two swaps": list("bacedfghij"), "many": list("jbcaefghid")}
CLICKS = {"many clicks": 0.9, "few clicks": 0.15}
Array = NDArray[np.float64]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--experiments", type=int, default=400)
    parser.add_argument("--pages", type=int, default=400)
    asked = parser.parse_args()
    relevance = dict(zip(BASE, np.linspace(0.9, 0.1, len(BASE)), strict=True))
    print(f"{asked.experiments} experiments of {asked.pages} pages; shares with p ≤ 0.05")
    print(f"{'':15s}{'':22s}{'':14s}planned look  every page")
    for method in METHODS:
        for name, other in NULL.items():
            for clicks, scale in CLICKS.items():
                found = alarms(method, BASE, other, asked.experiments, asked.pages, scale, None)
                print(f"{method:15s}{name:22s}{clicks:14s}{found[0]:8.3f}{found[1]:12.3f}", flush=True)
    print("the better ranker is found")
    for method in METHODS:
        for name, other in WORSE.items():
            for clicks, scale in CLICKS.items():
                found = alarms(method, BASE, other, asked.experiments // 2, asked.pages, scale, relevance)
                print(f"{method:15s}{name:22s}{clicks:14s}{found[0]:8.3f}{found[1]:12.3f}", flush=True)
    for pages in (1, 5, 20):
        by_user, by_page = users_with_tastes(asked.experiments, 200, pages)
        print(f"200 users with tastes, {pages} pages each: by first pages {by_user:.3f}, by all pages {by_page:.3f}")
    print(measured(f"python -m benchmarks.verdicts --experiments {asked.experiments}"))


def alarms(
    method: str, first: Sequence[str], second: Sequence[str], experiments: int, pages: int, scale: float,
    relevance: dict[str, float] | None,
) -> tuple[float, float]:  # fmt: skip
    """The shares of experiments with a verdict at the last page, and with one at any page."""
    rng = np.random.default_rng(0)
    planned = any_time = 0
    for experiment in range(experiments):
        sums, means = np.empty(pages), np.empty(pages)
        for k in range(pages):
            page = make_page(method, first, second, page=f"{experiment}-{k}")
            chance = scale / np.arange(1, len(page.documents) + 1) ** 0.7
            if relevance is not None:
                chance = chance * [relevance[document] for document in page.documents]
            clicks = 1 + np.flatnonzero(rng.random(len(chance)) < chance)
            sums[k] = page.outcome(clicks.tolist())
            means[k] = sums[k] / max(1, len(clicks))
        planned += verdict(sums).p <= 0.05
        any_time += confidence_sequence(means, most=1.0).p <= 0.05
    return planned / experiments, any_time / experiments


def users_with_tastes(experiments: int, users: int, pages: int) -> tuple[float, float]:
    """False alarms after every page, if only the first page of each user counts, and if all pages do."""
    rng, found = np.random.default_rng(1), np.zeros(2)
    for _ in range(experiments):
        user = rng.permutation(np.repeat(np.arange(users), pages))
        taste = rng.choice([0.2, 0.8], size=users)
        outcomes = np.where(rng.random(len(user)) < taste[user], 1.0, -1.0)
        first = np.sort(np.unique(user, return_index=True)[1])
        found += [confidence_sequence(x, most=1.0).p <= 0.05 for x in (outcomes[first], outcomes)]
    return float(found[0]) / experiments, float(found[1]) / experiments


if __name__ == "__main__":
    main()
