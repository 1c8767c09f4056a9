"""Trial: answer to a request that is part of an A/B test (split) or of an interleaving."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from podium.jit.sorting import order
from podium.service.models.model_store import Entry
from podium.service.models.versions import columns_of, scores_of
from podium.service.rank_request import Asked, Ranked, rank

if TYPE_CHECKING:
    from podium.service.experiments.experiment_results import Experiment


@dataclass(frozen=True, slots=True)
class Trial:
    """An experiment with its models."""

    experiment: Experiment
    control: Entry
    candidate: Entry


def in_candidate_arm(experiment: Experiment, unit: str) -> bool:
    """Whether a user sees the candidate: by a hash keyed by the experiment, stable in it, independent of others."""
    key = bytes.fromhex(experiment.salt)
    return bool(hashlib.blake2b(unit.encode("utf-8", "surrogatepass"), key=key, digest_size=8).digest()[0] & 1)


def split(trial: Trial, asked: Asked, request: str) -> Ranked:
    """Answer of the user's arm in an A/B test. A request without a user counts as a separate user."""
    chosen = in_candidate_arm(trial.experiment, request if asked.user is None else asked.user)
    if chosen:
        asked = replace(asked, X=columns_of(trial.candidate, trial.control, asked.X))
    ranked = rank(trial.candidate if chosen else trial.control, asked, request)
    ranked.answer.experiment = trial.experiment.name
    return replace(ranked, arms=[1.0 if chosen else -1.0] * len(ranked.rows))


def interleaved(trial: Trial, asked: Asked, request: str, *, most: int) -> Ranked:
    """Interleave both rankings, at random by a seed of the query and the request id.

    The first `most` documents are merged; the others follow in the order of the control. Scores and odds are those of
    the control.
    """
    from podium.online.interleaving import make_page

    ranked = rank(trial.control, replace(asked, k=None), request)
    answer = ranked.answer
    names = [result.id for result in answer.results]
    place = {row: at for at, row in enumerate(ranked.rows)}
    scores = scores_of(trial.candidate, trial.control, asked.X, asked.query_features)
    candidate = [names[place[row]] for row in order(scores).tolist()]
    k = len(names) if asked.k is None else min(asked.k, len(names))
    page = make_page(
        trial.experiment.method, candidate, names, query=asked.query, page=request, length=max(1, min(k, most))
    )
    at = {name: place for place, name in enumerate(names)}
    first = [at[name] for name in page.documents]
    chosen = set(first)
    places = [*first, *(place for place in range(len(names)) if place not in chosen)][:k]
    answer.results = [answer.results[place] for place in places]
    for position, result in enumerate(answer.results, 1):
        result.rank = position
    answer.model = f"{trial.control.key}+{trial.candidate.key}"
    answer.experiment = trial.experiment.name
    return replace(ranked, asked=asked, rows=[ranked.rows[place] for place in places], arms=list(page.credits))
