"""Off-policy (counterfactual) evaluation: the value of a ranker, estimated from a click log of other rankers' results.

    >>> from podium.clicks.propensity_file import Propensities
    >>> from podium.clicks.log.click_log import ClickLog
    >>> log = ClickLog.from_pages([("q", ["a", "b"], [1]), ("q", ["a", "b"], [2]), ("q", ["a", "b"], [])])
    >>> half = Propensities.of_theta([1.0, 0.5], how="given")
    >>> values = value(log, {"new": {"q": {"b": 2.0, "a": 1.0}}}, propensities=half, how="ips", discount="dcg")
    >>> round(values["new"].value, 4)  # ⅓ of a click at rank 1 on a, and on b ⅓ / 0.5
    0.877

The value is Σ_d ω_d P(d is relevant), averaged over results pages. ω_d is the discount of the rank that the ranker
gives d; relevance is in clicks at rank 1, since propensities are relative to it. With ρ_d = Σ_k π(k|d) α_k, the mean of
α over the ranks k where the log showed d for this query (0 if never), and r̂_d an estimate of relevance, a page gives

    ips     z = Σ_d ω_d/max(ρ_d, clip) · (c_d − β_k)
    snips   Σz/Σs,  s = Σ_d ω_d/max(ρ_d, clip) · α_k / Σ_d ω_d
    dm      z = Σ_d ω_d r̂_d
    dr      z = Σ_d ω_d (r̂_d + (c_d − β_k − α_k r̂_d)/max(ρ_d, clip))
    sndr    Σ_d ω_d r̂_d, and the rest of dr as snips

where c, α and β are 0 for documents that are not on the page. ips is unbiased if α, β and ρ are right and nothing is
clipped; dr also if they are wrong for documents whose r̂ is right; dm needs r̂ to be right. If ρ is taken from the log
and nothing is clipped or never shown, ips, snips and dr (with one r̂ for all pages) are the same number. ips is inverse
propensity scoring, snips its self-normalised form, dm the direct method, dr doubly robust. switch, dros and
sub-gaussian are dr with shrunk weights (`podium.counterfactual.shrinkage`), rips and sips compare whole lists
(`podium.counterfactual.replay`).
Reference: Joachims, Swaminathan & Schnabel, Unbiased learning-to-rank with biased feedback, WSDM 2017; Oosterhuis & de
Rijke, Policy-aware unbiased learning to rank, SIGIR 2020; Oosterhuis, Doubly robust estimation for correcting position
bias in click feedback for unbiased learning to rank, TOIS 2023.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from podium.base.arrays import Array, Flags
from podium.base.errors import DataError, ParameterError, UnknownNameError
from podium.base.shown import Shown, ShownTable
from podium.clicks.log.click_log import ClickLog, check_log
from podium.clicks.log.queries_by_text import BY_TEXT
from podium.clicks.models.base import ClickModel
from podium.clicks.propensity_file import Propensities, check_propensities
from podium.clicks.wild_bootstrap import fingerprint
from podium.counterfactual.discounts import Discount, Weighed, weigh
from podium.counterfactual.intervals import Estimate, Units, linear, with_interval
from podium.counterfactual.page_values import (
    BY_RELEVANCE,
    How,
    Pages,
    PageValues,
    Placed,
    place,
    sums_of,
    trust_clicks,
)
from podium.counterfactual.propensity_errors import moves
from podium.counterfactual.relevance import Guessed, guess
from podium.counterfactual.replay import replayed
from podium.counterfactual.shrinkage import UNSHRUNK, candidates, check_shrinkage, is_shrinking
from podium.distributions import RankingDistribution
from podium.formats.trec.trec import AnyRun, as_run

PropensitySource = Literal["known", "this log", "another log"]
LOGGED = "what was shown"
"""The name of the rankings that made the log."""
UNKNOWN = 0.1
"""If a larger share of a ranker's weight is on documents never shown, no difference is called significant."""


@dataclass(frozen=True)
class Value:
    """Estimated value of a ranker, and how much of it the log supports."""

    name: str
    value: float
    low: float
    high: float
    standard_error: float
    effective_clicks: float  # (Σw)²/Σw² over clicks, w = ω/ρ: clicks of equal weight with the same variance
    clipped: float  # share of ω on documents with 0 < ρ < clip
    never_shown: float  # share of ω on documents that the log never showed for the query
    shrinkage: float | None = None  # λ of shrunk weights


@dataclass(frozen=True)
class Difference:
    """Difference of the values of two rankers, on the same pages."""

    first: str
    second: str
    value: float
    low: float
    high: float
    p: float  # that there is none
    never_shown: float  # the larger share of the two
    confidence: float

    @property
    def significant(self) -> bool:
        """Whether the interval leaves out 0 and the log showed enough of both rankers' documents."""
        return self.never_shown <= UNKNOWN and self.p < 1.0 - self.confidence

    def sentence(self) -> str:
        """Describe the difference in words."""
        if self.never_shown > UNKNOWN:
            return (
                f"no verdict on {self.first} and {self.second}: {100 * self.never_shown:.0f} % of the weight of one is "
                "on documents that were never shown, of which the log tells nothing"
            )
        if not self.significant:
            return f"no significant difference between {self.first} and {self.second} (p = {self.p:.3g})"
        better, worse = (self.first, self.second) if self.value > 0 else (self.second, self.first)
        return f"{better} is worth more than {worse} (p = {self.p:.3g})"


@dataclass(frozen=True, repr=False)
class Values(Shown):
    """Values of rankers on the same pages; the first is that of the logged rankings."""

    how: str
    discount: str
    propensities: PropensitySource  # the log whose clicks they were estimated from; intervals hold their errors, too
    pages: float  # that count, each as often as it occurred
    left_out: float  # pages of queries that not all rankers rank
    users: int | None  # None if the log does not know them
    clicks: float  # on the pages that count
    ignored_clicks: float  # at ranks without a propensity
    confidence: float
    values: tuple[Value, ...]
    differences: tuple[Difference, ...]  # of every two rankers, and of each to what the log showed

    def _shown(self) -> ShownTable:
        rows = [(v.name, v.value, v.low, v.high, v.effective_clicks, 100 * v.never_shown) for v in self.values]
        heads = ["ranker", "value", "from", "to", "effective clicks", "% never shown"]
        sentences = [pair.sentence() for pair in self.differences[:5]]
        title = f"{self.discount} of clicks on {self.pages:g} pages, by {self.how}"
        level = f"from, to: {100 * self.confidence:g} % intervals"
        return ShownTable(title, heads, rows, notes=[*sentences, level], bars=1)

    def __getitem__(self, name: str) -> Value:
        return next(value for value in self.values if value.name == name)

    def difference(self, first: str, second: str = LOGGED) -> Difference:
        """Value of the first ranker minus that of the second."""
        for pair in self.differences:
            if (pair.first, pair.second) == (first, second):
                return pair
            if (pair.first, pair.second) == (second, first):
                return replace(pair, first=first, second=second, value=-pair.value, low=-pair.high, high=-pair.low)
        raise KeyError(f"{first!r} and {second!r} were not compared")


def value(
    log: ClickLog,
    rankers: Mapping[str, AnyRun],
    *,
    propensities: Propensities,
    how: How = "dr",
    discount: str = "dcg@10",
    relevance: str | ClickModel | AnyRun = "pbm(prior=0.1)",
    clip: float = 0.01,
    shrinkage: float | None = None,
    placement: Array | None = None,
    distribution: RankingDistribution | None = None,
    confidence: float = 0.95,
    seed: int = 0,
) -> Values:
    """Estimate the values of rankers, given by name as runs, from a click log.

    `relevance` is r̂ for dm and dr: a click model, fitted to other pages than those it is used for, or a run whose
    scores are probabilities (`relevance.cross_fitted` makes one from features). `placement` is π(k|d) if the logging
    policy is known, (U, R) for pairs and ranks from 1; by default the shares in the log. With a `distribution`, rankers
    draw their lists from it. Pages of queries that one of the rankers does not rank are left out. `shrinkage` is λ of
    switch, dros and sub-gaussian; by default the one with the smallest estimated error, for each ranker.
    """
    check_log(log)
    check_propensities(propensities)
    if how not in get_args(How):
        raise UnknownNameError("estimator", how, get_args(How))
    if not 0.0 <= clip < 1.0:
        raise ParameterError(f"clip must be at least 0 and below 1; got {clip}.")
    if LOGGED in rankers or not rankers:
        raise ParameterError(f"give at least one ranker, and none called {LOGGED!r}.")
    check_shrinkage(how, shrinkage)
    if how in ("rips", "sips") and (placement is not None or distribution is not None):
        raise ParameterError(f"{how} compares lists, and takes neither placement nor distribution.")
    chosen = Discount.parse(discount)
    runs = {name: as_run(run) for name, run in rankers.items()}

    def placed(curve: Propensities) -> dict[str, tuple[Weighed, Placed]]:
        weighed = {
            name: weigh(run, chosen, propensities=curve, distribution=distribution) for name, run in runs.items()
        }
        return {name: (documents, place(log, documents)) for name, documents in weighed.items()}

    of_rankers = placed(propensities)
    kept = np.logical_and.reduce([on_pairs.ranked for _, on_pairs in of_rankers.values()])[log.page_query]
    if not kept.any():
        raise DataError(
            f"no page of the log is of a query that all rankers rank. Are the ids those of the log? {BY_TEXT}",
            where=log.source,
        )
    guessed = guess(log, relevance, propensities=propensities, seed=seed) if how in BY_RELEVANCE else None
    lambdas = dict.fromkeys(runs, shrinkage)
    if is_shrinking(how) and shrinkage is None:
        pages = Pages.of(log, propensities, clip=clip, placement=placement)
        lambdas = {name: _least_error(pages, at, how, guessed, kept) for name, (_, at) in of_rankers.items()}

    def page_values(curve: Propensities) -> dict[str, PageValues]:
        pages = Pages.of(log, curve, clip=clip, placement=placement)
        values = {LOGGED: pages.logged(chosen, curve)}
        for name, (weighed, on_pairs) in (placed(curve) if chosen.examination else of_rankers).items():
            if how in ("rips", "sips"):
                values[name] = replayed(pages, runs[name], chosen, curve, whole=how == "sips")
            else:
                values[name] = _shrunk_values(pages, on_pairs, how, guessed, lambdas[name])
            if chosen.examination:
                fixed = values[name].fixed + trust_clicks(log, weighed, curve)
                values[name] = replace(values[name], fixed=fixed)
        return values

    found = _summary(log, page_values, kept, propensities, how=how, discount=discount, confidence=confidence)
    return replace(found, values=tuple(replace(v, shrinkage=lambdas.get(v.name)) for v in found.values))


def _shrunk_values(
    pages: Pages, placed: Placed, how: How, guessed: Guessed | None, shrinkage: float | None
) -> PageValues:
    """Contribution of each page; with shrunk weights also what they seem to change, compared with those of dr."""
    if shrinkage is None:
        return pages.ranked(placed, how, guessed)
    values = pages.ranked(placed, how, guessed, shrinkage=shrinkage)
    return replace(values, change=values.z - pages.ranked(placed, how, guessed, shrinkage=UNSHRUNK[how]).z)


def _least_error(pages: Pages, placed: Placed, how: How, guessed: Guessed | None, kept: Flags) -> float:
    """λ with the smallest bias² + variance; the bias is the difference to dr, which has none."""
    counts, (weights, _) = pages.log.page_counts[kept], pages.importance(placed)
    errors = {}
    for shrinkage in candidates(how, weights[weights > 0]):
        values = _shrunk_values(pages, placed, how, guessed, shrinkage)
        _, influence = linear(values.z[kept], values.s[kept], values.fixed[kept], counts)
        bias = float(counts @ values.change[kept]) / float(counts.sum())
        errors[shrinkage] = bias**2 + float(counts @ influence**2) / float(counts.sum()) ** 2
    return min(errors, key=lambda shrinkage: errors[shrinkage])


def _summary(
    log: ClickLog,
    page_values: Callable[[Propensities], dict[str, PageValues]],
    kept: Flags,
    propensities: Propensities,
    *,
    how: str,
    discount: str,
    confidence: float,
) -> Values:
    by_name = page_values(propensities)
    source = _source(propensities, log)
    estimates = _estimates(log, by_name, page_values, kept, propensities, source, confidence)
    counts = log.page_counts[kept]
    users = None if log.users is None else log.users[kept]
    clicked = np.repeat(log.page_counts * kept, log.sizes) * (log.clicks == 1)
    ranked = np.nan_to_num(propensities.at(log.ranks())[0]) > 0
    values = [
        _value(name, by_name[name], estimate, log, kept, clicked * ranked) for name, estimate in estimates.items()
    ]
    shares = {value.name: value.never_shown for value in values}
    names = [name for name in by_name if name != LOGGED]
    pairs = [*itertools.combinations(names, 2), *((name, LOGGED) for name in names)]
    differences = []
    for first, second in pairs:
        gap = estimates[first].minus(estimates[second])
        share = max(shares[first], shares[second])
        differences.append(Difference(first, second, gap.value, gap.low, gap.high, gap.p, share, confidence))
    return Values(
        how=how,
        discount=discount,
        propensities=source,
        pages=float(counts.sum()),
        left_out=float(log.page_counts[~kept].sum()),
        users=None if users is None or (users < 0).all() else len(np.unique(users[users >= 0])),
        clicks=float(clicked.sum()),
        ignored_clicks=float(clicked[~ranked].sum()),
        confidence=confidence,
        values=tuple(values),
        differences=tuple(differences),
    )


def _estimates(
    log: ClickLog,
    by_name: dict[str, PageValues],
    page_values: Callable[[Propensities], dict[str, PageValues]],
    kept: Flags,
    propensities: Propensities,
    source: PropensitySource,
    confidence: float,
) -> dict[str, Estimate]:
    """Estimate of each ranker by name."""
    users = None if log.users is None else log.users[kept]
    units = Units(log.page_counts[kept], users, confidence)

    def over_pages(by_page: PageValues) -> tuple[float, Array]:
        return linear(by_page.z[kept], by_page.s[kept], by_page.fixed[kept], units.counts)

    def unshrunk(by_page: PageValues) -> tuple[float, Array]:
        """Value and influence without shrinkage: shrunk weights know less, not more."""
        return over_pages(replace(by_page, z=by_page.z - by_page.change))

    def values_of(curve: Propensities) -> Array:
        return np.array([unshrunk(by_page)[0] for by_page in page_values(curve).values()])

    values = [over_pages(by_page)[0] for by_page in by_name.values()]
    influences = [unshrunk(by_page)[1] for by_page in by_name.values()]
    moved = moves(log, propensities, kept, np.array(influences), values_of, same_log=source == "this log")
    return {
        name: with_interval(value, influence, draws, units, bias=units.mean(by_name[name].change[kept]))
        for name, value, influence, draws in zip(by_name, values, influences, moved, strict=True)
    }


def _source(propensities: Propensities, log: ClickLog) -> PropensitySource:
    if propensities.alpha_draws is None:
        return "known"
    return "this log" if propensities.log == fingerprint(log) else "another log"


def _value(name: str, by_page: PageValues, estimate: Estimate, log: ClickLog, kept: Flags, clicked: Array) -> Value:
    views = sums_of(log.page_query[kept], log.page_counts[kept], log.n_queries)
    total = float(views @ by_page.total)
    squares = float(clicked @ by_page.weights**2)
    return Value(
        name=name,
        value=estimate.value,
        low=estimate.low,
        high=estimate.high,
        standard_error=estimate.standard_error,
        effective_clicks=float(clicked @ by_page.weights) ** 2 / squares if squares > 0 else 0.0,
        clipped=float(views @ by_page.clipped) / total if total > 0 else 0.0,
        never_shown=float(views @ by_page.never_shown) / total if total > 0 else 0.0,
    )
