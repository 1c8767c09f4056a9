"""Ranker: ranks a query by a model, or by the A/B test or interleaving that runs on it; counts and logs the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from podium.base.errors import PodiumError
from podium.service.experiments.trial import Trial, interleaved, split
from podium.service.feedback.events import Feedback, Impression
from podium.service.models.model_store import Entry
from podium.service.models.versions import Models
from podium.service.prometheus import Monitor
from podium.service.rank_request import Asked, Ranked, rank

if TYPE_CHECKING:
    from podium.service.experiments.ab_tests import Experiments
    from podium.service.experiments.shadow import Shadow


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

    def rank(self, entry: Entry, asked: Asked, request: str, *, trials: bool = True) -> Ranked:
        """Rank a query. With `trials`, a logged request takes part in the experiment on its model."""
        ranked = self._tried(entry, asked, request) if trials and asked.log and len(asked.X) else None
        ranked = ranked or rank(entry, asked, request)
        self.monitor.score_seconds.labels(ranked.entry.key).observe(ranked.score_seconds)
        self.models.remember(entry, asked.X)
        if self.feedback is not None and asked.log:
            self.feedback.log(_impression(ranked, self.logged_documents))
        return ranked

    def shadowed(self, rankings: Sequence[Ranked]) -> list[tuple[Trial, Ranked]]:
        """Rankings to be scored by shadow candidates after the answer is sent."""
        logged = [ranked for ranked in rankings if ranked.asked.log and len(ranked.asked.X)]
        trials = [(self._trial(ranked.entry), ranked) for ranked in logged]
        return [(trial, ranked) for trial, ranked in trials if trial is not None and trial.experiment.kind == "shadow"]

    def _tried(self, entry: Entry, asked: Asked, request: str) -> Ranked | None:
        """Answer of the experiment that runs on a model; None if there is none, or if its candidate fails."""
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
            return None
        self.monitor.count_trial("answered", trial.experiment.name)
        return ranked

    def _trial(self, entry: Entry) -> Trial | None:
        """Experiment that runs on a model, if its candidate is in the model store."""
        experiment = None if self.experiments is None else self.experiments.running.get(entry.key)
        candidate = None if experiment is None else self.models.current.entries.get(experiment.candidate)
        return None if experiment is None or candidate is None else Trial(experiment, entry, candidate)


def _impression(ranked: Ranked, most: int) -> Impression:
    """Documents of an answer, with the features that they were ranked by."""
    asked, answer, names = ranked.asked, ranked.answer, ranked.entry.feature_names
    shown = [result.id for result in answer.results[:most]]
    features = asked.X[ranked.rows[:most]]
    arms = None if ranked.arms is None else ranked.arms[:most]
    experiment = None if arms is None else str(answer.experiment)
    return Impression(answer.request, answer.model, names, asked.query, asked.user, shown, features, experiment, arms)
