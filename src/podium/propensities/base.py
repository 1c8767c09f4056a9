"""Propensity estimation from a click log: the examination probability of each rank, relative to rank 1 (position bias).

    >>> from podium.clicks.simulate import simulate
    >>> from podium.data.synthetic import make_letor_like
    >>> data, _ = make_letor_like(20, seed=1)
    >>> log = simulate(data, pages=20000, eta=1, depth=5, seed=0)  # shuffled pages, θ_k = 1/k
    >>> propensities(log, "randomised").theta.round(2).tolist()
    [1.0, 0.49, 0.34, 0.25, 0.2]

An estimator is a frozen value with a name. Clicks fall with the rank because users examine lower ranks less and because
good documents are ranked above; only documents that were shown at several ranks, by chance, separate the two. So
`randomised`, `swap` and `harvest` need such interventions, click models such as `pbm` need documents at changing ranks,
and `regression-em`, `dual` and `pairwise` trust the features instead, with a warning.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from podium.base.arguments import random_numbers
from podium.base.arrays import Array, Ints
from podium.base.errors import DataError, ParameterError, PodiumWarning, UnknownNameError
from podium.base.registry import Named, field_types, split_call
from podium.clicks import ClickModel
from podium.clicks.log.click_log import ClickLog, check_log
from podium.clicks.propensity_file import Propensities
from podium.clicks.wild_bootstrap import click_spread, fingerprint, signs
from podium.data.dataset import Dataset
from podium.data.table import Table


@dataclass(frozen=True)
class ByClicks:
    """Propensities as a function of the clicks on impressions, which may be any numbers near 0 and 1."""

    cell: Ints  # (I,) impressions of one cell are clicked with the same probability
    alpha: Callable[[Array], Array]  # (I,) clicks to (K,) α, or to (2, K) α and β


@dataclass(frozen=True, repr=False)
class Estimator(Named):
    """Estimator of propensities; its fields are its parameters."""

    kind: ClassVar[str] = "propensity estimator"
    home: ClassVar[str] = "podium.propensities"
    needs_data: ClassVar[bool] = False
    """Whether it needs the dataset of the queries, because it learns from features or grades."""
    intervenes: ClassVar[bool] = True
    """Whether documents that change ranks separate position from relevance, not features alone."""

    def estimate(self, log: ClickLog, data: Dataset | None, rng: np.random.Generator) -> Propensities:
        """Estimate the propensities of a log that has clicks."""
        raise NotImplementedError

    def by_clicks(self, log: ClickLog, data: Dataset | None, estimated: Propensities) -> ByClicks | None:
        """Dependence of the estimated propensities on clicks; None if they must be taken as known."""
        return None


def propensities(
    log: ClickLog,
    how: str | Estimator | ClickModel = "harvest",
    data: Table | None = None,
    *,
    depth: int | None = None,
    seed: int = 0,
) -> Propensities:
    """Estimate the propensities of a click log, by an estimator or a click model, given as a value or by name.

    `propensities(log, "harvest(by=pivot)")`, `propensities(log, "ubm")`. Some estimators need the dataset of the
    queries, `data`. `depth` leaves out lower ranks, for which the log may have too few clicks.
    """
    check_log(log)
    estimator = parse(how)
    if depth is not None and depth < 1:
        raise ParameterError(f"depth must be at least 1; got {depth}.")
    used = log if depth is None else log.cut(depth)
    if not used.clicks.any():
        raise DataError("the log has no clicks, which tell nothing about ranks.", where=log.source)
    if estimator.needs_data and data is None:
        raise DataError(
            f"{estimator.name} learns relevance from features: give the dataset of the queries (--data) with the log."
        )
    if not estimator.intervenes:
        warnings.warn(
            f"{estimator}: estimated without interventions. If the ranker that made the log is good, part of its "
            "quality is taken for position bias. Prefer randomised, swap or harvest.",
            PodiumWarning,
            stacklevel=2,
        )
    grouped = None if data is None else data.grouped()
    estimated = estimator.estimate(used, grouped, random_numbers(seed))
    depends = estimator.by_clicks(used, grouped, estimated)
    return estimated if depends is None else _with_draws(estimated, log, used, depends)


def _with_draws(estimated: Propensities, log: ClickLog, used: ClickLog, depends: ByClicks) -> Propensities:
    """Add the draws: the propensities if the clicks of each page were moved along its sign.

    The step is small, so that no sum of clicks falls below 0, and the change of α is scaled up again.
    """
    spread, page = click_spread(used, depends.cell), used.page_of
    clicks = used.clicks.astype(np.float64)
    here = depends.alpha(clicks)
    moved = [here + (depends.alpha(clicks + _STEP * sign[page] * spread) - here) / _STEP for sign in signs(log)]
    draws = np.stack(moved)
    if not np.isfinite(draws).all():
        return estimated
    alpha, beta = (draws, None) if draws.ndim == 2 else (draws[:, 0], draws[:, 1])
    return replace(estimated, log=fingerprint(log), alpha_draws=alpha, beta_draws=beta)


def parse(how: str | Estimator | ClickModel) -> Estimator:
    """Parse an estimator. The name of a click model is that model with the parameters that bias θ least.

    These are a small prior and EM near convergence: prior 1, or few steps, pull θ towards ½.
    """
    from podium.propensities.click_model import ByClickModel

    if isinstance(how, Estimator):
        return how
    if isinstance(how, ClickModel):
        return ByClickModel(how)
    if not isinstance(how, str):
        raise ParameterError(f"how must name an estimator or a click model; got {type(how).__name__}.")
    name, arguments = split_call(how)
    estimators, models = Estimator.catalogue(), ClickModel.catalogue()
    if name in estimators:
        return Estimator.parse(how)
    if name not in models:
        raise UnknownNameError(Estimator.kind, name, [*estimators, *models])
    texts = {key: text for key, text in _CLOSE.items() if key in field_types(models[name])} | arguments
    return ByClickModel(ClickModel.parse(f"{name}({','.join(f'{key}={text}' for key, text in texts.items())})"))


_STEP = 0.02
_CLOSE = {"prior": "0.01", "iterations": "3000", "tolerance": "1e-10"}


def intervals(
    theta: Array, estimate: Callable[[Array], Array], *, log: ClickLog, draws: int, rng: np.random.Generator
) -> tuple[Array, Array]:
    """95 % intervals by the bootstrap over queries: `estimate(times)` is θ if each query counts `times` (Q,).

    They are symmetric on the logarithmic scale, θ · exp(± t · sd), with t of Student's distribution.
    """
    from scipy.stats import t

    unknown = np.full(len(theta), np.nan)
    shown = np.unique(log.page_query)
    if draws < 2:
        return unknown, unknown
    if len(shown) < 2:
        warnings.warn(
            "intervals come from resampling queries, and this log has one: there are none.", PodiumWarning, stacklevel=4
        )
        return unknown, unknown
    thetas = np.empty((draws, len(theta)))
    for row in thetas:
        times = np.bincount(rng.choice(shown, len(shown)), minlength=log.n_queries).astype(np.float64)
        row[:] = estimate(times)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where((thetas > 0) & (thetas < np.inf), np.log(thetas), np.nan)
    enough = (~np.isnan(logs)).sum(axis=0) >= max(2, draws // 2)
    spread = np.full(len(theta), np.nan)
    spread[enough] = np.nanstd(logs[:, enough], axis=0, ddof=1)
    factor = np.exp(t.ppf(0.975, draws - 1) * spread)
    return theta / factor, theta * factor


def check_connected(parts: Ints, *, who: str, where: str | None) -> None:
    """Raise a clear error if a rank cannot be compared with rank 1; `parts` are those of `parts_of_ranks`."""
    apart = np.flatnonzero(parts != parts[0]) + 1
    if not len(apart):
        return
    if len(apart) == len(parts) - 1:
        raise DataError(
            f"{who}: no document was shown at two ranks, so position cannot be told from relevance, with any number of "
            "clicks. Show documents at changing ranks: shuffle some pages, swap documents, or run two rankers.",
            where=where,
        )
    ranks = ", ".join(map(str, apart[:5])) + (", …" if len(apart) > 5 else "")
    first = int(apart[0]) - 1
    hint = f"Leave lower ranks out (depth {first}), or show" if first > 1 else "Show"
    raise DataError(
        f"{who}: no document was shown both at rank 1 and at rank {ranks}, even by a chain of ranks between, so their "
        f"examination cannot be compared. {hint} documents at changing ranks.",
        where=where,
    )
