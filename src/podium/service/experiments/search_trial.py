"""Trial of a search: its answer if it is part of an A/B test (split) or of an interleaving."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from podium.service.experiments.trial import in_candidate_arm
from podium.service.feedback.events import Impression
from podium.service.schemas import SearchAnswer, SearchRequest
from podium.service.search import interleaved_search, search
from podium.service.search_ranker import SearchBehaviour, SearchRanker

if TYPE_CHECKING:
    from podium.service.experiments.experiment_results import Experiment
    from podium.text.index.index import Index


@dataclass(frozen=True, slots=True)
class SearchTrial:
    """An experiment with its rankers of searches."""

    experiment: Experiment
    control: SearchRanker
    candidate: SearchRanker


def tried_search(
    trial: SearchTrial, index: Index, request: SearchRequest, name: str, behaviour: SearchBehaviour, *, most: int
) -> tuple[SearchAnswer, Impression | None] | None:
    """Answer of an experiment, with the impression to log; None if it leaves the page to the control.

    A page after the first is that of the user's arm in an A/B test, and goes on with the user's list in an
    interleaving. Without a user, nothing tells which list that was: the page is the control's.
    """
    experiment = trial.experiment
    if experiment.kind == "interleave":
        if request.offset > 0 and not request.user:
            return None
        answer, shown = interleaved_search(
            index, trial.candidate, trial.control, request, name, behaviour, method=experiment.method, most=most
        )
        answer.experiment = experiment.name
        return answer, None if shown is None else replace(shown, experiment=experiment.name)
    chosen = in_candidate_arm(experiment, name if request.user is None else request.user)
    answer, page = search(index, trial.candidate if chosen else trial.control, request, name, behaviour)
    answer.experiment = experiment.name
    if page is None:
        return answer, None
    arms = [1.0 if chosen else -1.0] * max(1, len(page.documents))
    return answer, replace(page, experiment=experiment.name, arms=arms)
