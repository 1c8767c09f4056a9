"""Propensities from a click model: the examination probabilities that it estimates from the log."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np

from podium.base.arrays import Array
from podium.base.errors import ConvergenceWarning, DataError, ParameterError, PodiumWarning
from podium.base.registry import param, register
from podium.clicks.connected_ranks import parts_of_ranks
from podium.clicks.log.click_log import ClickLog
from podium.clicks.models import PBM, ClickModel
from podium.clicks.models.base import Fitted, tally
from podium.clicks.models.rate_model import RateModel
from podium.clicks.propensity_file import Propensities
from podium.data.dataset import Dataset
from podium.propensities.base import Estimator, check_connected, intervals

_FEW = 3
"""Clicks of a clicked document; in simulated logs with as many, θ of lower ranks was a fifth too large."""


@register
class ByClickModel(Estimator):
    """Examination probabilities of a fitted click model, such as the position-based model.

    Formula: θ_k/θ_1 of the fitted model, the mean over results pages if examination depends on clicks above.
    Cost: a fit, and one more for each of `draws` resamplings of the queries, which the intervals come from.
    Use it for: logs in which documents change ranks without a plan. The name of the model, as in --how ubm, is that
        model with prior=0.01 and up to 3000 EM steps: the pseudo-counts of prior=1, or few steps, pull θ towards ½.
        With few clicks for each document θ of low ranks is too large: prefer harvest if the log names rankers.
    Reference: Wang, Golbandi, Bendersky, Metzler & Najork, Position bias estimation for unbiased learning to rank in
        personal search, WSDM 2018, where it is the method to compare with.
    """

    model: ClickModel = PBM(prior=0.01, iterations=3000, tolerance=1e-10)
    """Click model that is fitted."""
    draws: int = param(default=10, least=0)
    """Resamplings of the queries, from which the intervals come."""

    def estimate(self, log: ClickLog, data: Dataset | None, rng: np.random.Generator) -> Propensities:
        if isinstance(self.model, RateModel):
            raise ParameterError(
                f"{self.model.name} does not tell examination from relevance: its rates mix both. Use pbm, ubm or dbn."
            )
        if not isinstance(self.model, PBM) and log.positions is not None and _has_gaps(log):
            raise DataError(
                f"{self.model} reads pages from rank 1 on, but this log has pages that leave ranks out. Use pbm.",
                where=log.source,
            )
        check_connected(parts_of_ranks(log), who=str(self.model), where=log.source)
        _warn_of_few(log, self.model)
        folded = log.folded
        fitted = self.model.fit(folded)
        theta = _relative(fitted)
        if not (np.isfinite(theta) & (theta >= 0)).all():
            raise DataError(f"{self.model}: rank 1 is never looked at, by the fit. Were clicks at rank 1 recorded?")

        def again(times: Array) -> Array:
            counts = folded.page_counts * times[folded.page_query]
            part = replace(folded, counts=counts).select(counts > 0)
            resampled = np.full(len(theta), np.nan)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)  # the fit to the whole log has warned already
                here = _relative(self.model.fit(part))
            resampled[: len(here)] = here
            return resampled

        low, high = intervals(theta, again, log=folded, draws=self.draws, rng=rng)
        return Propensities.of_theta(theta, low=low, high=high, how=str(self.model))


def _warn_of_few(log: ClickLog, model: ClickModel) -> None:
    """Warn if documents have so few clicks that attractiveness alone explains them, whatever the examination."""
    clicks = tally(log)[1]
    each = clicks.sum() / (clicks > 0).sum()
    if each < _FEW:
        warnings.warn(
            f"{model}: clicked documents have {each:.1f} clicks each on average. With fewer than {_FEW}, θ of lower "
            "ranks comes out too large, and its intervals do not show it. Use a log with more pages of each query, or "
            "harvest or regression-em, which need fewer clicks of each document.",
            PodiumWarning,
            stacklevel=4,
        )


def _has_gaps(log: ClickLog) -> bool:
    """Whether a page lacks a rank above one that it shows."""
    return bool((log.ranks() != replace(log, positions=None).ranks()).any())


def _relative(fitted: Fitted) -> Array:
    """Examination relative to rank 1; NaN for ranks that cannot be compared with it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PodiumWarning)  # ranks of a resampling that are apart are left out
        return fitted.examination()
