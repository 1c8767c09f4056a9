"""Ranker: ranks or searches by a model, or by the A/B test or interleaving that runs on it; counts and logs the answer.

Searches may also be by a first stage, such as BM25.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from podium.base.errors import PodiumError
from podium.service.behaviour_filler import BehaviourFiller
from podium.service.experiments.trial import Trial, interleaved, split
from podium.service.feedback.events import Feedback, Impression
from podium.service.models.model_store import Entry
from podium.service.models.versions import Models, missing_feature
from podium.service.prometheus import Monitor
from podium.service.rank_request import Asked, Ranked, rank

if TYPE_CHECKING:
    from podium.service.experiments.ab_tests import Experiments
    from podium.service.experiments.shadow import Shadow
    from podium.service.schemas import SearchAnswer, SearchRequest
    from podium.service.search_ranker import SearchBehaviour, SearchRanker
    from podium.text.index.index import Index


@dataclass(frozen=True)
class Ranker:
    """Ranks queries, with the parts of the service that an answer involves: experiments, feedback, monitoring."""

    models: Models
    monitor: Monitor
    feedback: Feedback | None
    experiments: Experiments | None
    shadow: Shadow | None
    logged_documents: int
    """The most documents of an answer that are logged."""
    behaviour: BehaviourFiller | None = None

    def rank(self, entry: Entry, asked: Asked, request: str, *, trials: bool = True) -> Ranked:
        """Rank a query. With `trials`, a logged request takes part in the experiment on its model."""
        asked = self.filled(entry, asked)
        ranked = self._tried(entry, asked, request) if trials and asked.log and len(asked.X) else None
        ranked = ranked or rank(entry, asked, request)
        self.monitor.score_seconds.labels(ranked.entry.key).observe(ranked.score_seconds)
        self.models.remember(entry, asked.X)
        if self.feedback is not None and asked.log:
            self.feedback.log(_impression(ranked, self.logged_documents))
        return ranked

    def search(self, index: Index, entry: Entry | None, request: SearchRequest, name: str) -> SearchAnswer:
        """Search an index. A logged search by relevance takes part in the experiment on its model or first stage."""
        from podium.service.search import search, search_ranker
        from podium.service.search_ranker import SearchBehaviour

        control = search_ranker(entry, request)
        behaviour = SearchBehaviour(request, None if self.behaviour is None else self.behaviour.filled)
        takes_part = request.log and request.query is not None and request.sort is None and not request.explain
        found = self._tried_search(index, control, request, name, behaviour) if takes_part else None
        answer, shown = found or search(index, control, request, name, behaviour)
        if self.feedback is not None and shown is not None and request.log:
            self.feedback.log(shown)
        return answer

    def filled(self, entry: Entry, asked: Asked) -> Asked:
        """The documents with the behaviour features that the caller did not send, if the service has a store."""
        return asked if self.behaviour is None or not entry.behaviour else self.behaviour.filled(entry, asked)

    def shadowed(self, rankings: Sequence[Ranked]) -> list[tuple[Trial, Ranked]]:
        """Rankings to be scored by shadow candidates after the answer is sent."""
        logged = [ranked for ranked in rankings if ranked.asked.log and len(ranked.asked.X)]
        trials = [(self._trial(ranked.entry), ranked) for ranked in logged]
        return [(trial, ranked) for trial, ranked in trials if trial is not None and trial.experiment.kind == "shadow"]

    def _tried(self, entry: Entry, asked: Asked, request: str) -> Ranked | None:
        """Answer of the experiment that runs on a model; None if there is none, or if its candidate fails.

        In an A/B test a user of the candidate then sees the control, and still counts for the candidate: arms without
        their failures would differ if nobody preferred either.
        """
        trial = self._trial(entry)
        if trial is None or trial.experiment.kind == "shadow":
            return None
        try:
            if trial.experiment.kind == "split":
                ranked = split(trial, asked, request)
            else:
                ranked = interleaved(trial, asked, request, most=self.logged_documents)
        except PodiumError:  # the control answers, or says what is wrong with the request
            self.monitor.count_trial("failed", trial.experiment.name)
            in_split = trial.experiment.kind == "split"
            return split(replace(trial, candidate=trial.control), asked, request) if in_split else None
        self.monitor.count_trial("answered", trial.experiment.name)
        return ranked

    def _tried_search(
        self, index: Index, control: SearchRanker, request: SearchRequest, name: str, behaviour: SearchBehaviour
    ) -> tuple[SearchAnswer, Impression | None] | None:
        """Answer of the experiment that runs on a ranker of searches, as `_tried`."""
        experiment = None if self.experiments is None else self.experiments.running.get(control.key)
        if experiment is None or experiment.kind == "shadow":
            return None
        from podium.service.experiments.search_trial import SearchTrial, tried_search
        from podium.service.search_ranker import by_key

        try:
            candidate = by_key(experiment.candidate, self.models.current)
            if candidate is None:
                return None
            trial = SearchTrial(experiment, control, candidate)
            found = tried_search(trial, index, request, name, behaviour, most=self.logged_documents)
        except PodiumError:  # the control answers, or says what is wrong with the request
            self.monitor.count_trial("failed", experiment.name)
            if experiment.kind != "split":
                return None
            of_control = SearchTrial(experiment, control, control)
            return tried_search(of_control, index, request, name, behaviour, most=self.logged_documents)
        if found is not None:
            self.monitor.count_trial("answered", experiment.name)
        return found

    def _trial(self, entry: Entry) -> Trial | None:
        """Experiment that runs on a model, if its candidate is in the model store and has no other features."""
        experiment = None if self.experiments is None else self.experiments.running.get(entry.key)
        candidate = None if experiment is None else self.models.current.entries.get(experiment.candidate)
        if experiment is None or candidate is None or missing_feature(candidate, entry) is not None:
            return None
        return Trial(experiment, entry, candidate)


def _impression(ranked: Ranked, most: int) -> Impression:
    """Documents of an answer, with the features that they were ranked by."""
    asked, answer, names = ranked.asked, ranked.answer, ranked.entry.feature_names
    shown = [result.id for result in answer.results[:most]]
    features = asked.X[ranked.rows[:most]]
    arms = None if ranked.arms is None else ranked.arms[:most]
    experiment = None if arms is None else str(answer.experiment)
    return Impression(
        answer.request, answer.model, names, asked.query, asked.user, shown, features, experiment, arms, asked.at
    )
