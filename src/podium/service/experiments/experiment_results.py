"""Results of A/B tests, interleaving and shadows, from the feedback store; statistics of `podium.online`.

An outcome is from −1 to 1, above 0 for the candidate. That of an interleaved results page is the mean credit of its
clicks; in a split (A/B test), that of a page with a click is 1 in the candidate's arm and −1 in the control's. Merging
and arms are random, so that outcomes have mean 0 if users prefer neither model. Only the first page of each user
counts: later ones depend on it, and an always-valid verdict needs independent units.
"""

from __future__ import annotations

import itertools
import json
import sqlite3
from dataclasses import dataclass

from podium.base.errors import counted
from podium.online.confidence_sequence import confidence_sequence
from podium.online.verdict import verdict
from podium.service.experiments.experiment_schemas import ExperimentAnswer, Kind, Preference, ShadowAbout, SplitArm, Why


@dataclass(frozen=True, slots=True)
class Experiment:
    """A stored experiment: a row of its table."""

    name: str
    kind: Kind
    control: str  # name@version
    candidate: str  # name@version
    method: str
    salt: str
    min_pages: int
    confidence: float
    started: int  # ms since 1970
    ended: int | None = None
    why: Why | None = None


def result(base: sqlite3.Connection, experiment: Experiment) -> ExperimentAnswer:
    """Experiment with its results so far."""
    name, kind, confidence = experiment.name, experiment.kind, experiment.confidence
    answer = ExperimentAnswer(
        name=name, kind=kind, control=experiment.control, candidate=experiment.candidate,
        method=experiment.method if kind == "interleave" else None, min_pages=experiment.min_pages,
        confidence=confidence, started=experiment.started, ended=experiment.ended, why=experiment.why,
        better=None, verdict="", preference=None, arms=None, shadow=None,
    )  # fmt: skip
    if kind == "shadow":
        answer.shadow = _shadow(base, name)
        answer.verdict = f"{counted(answer.shadow.requests, 'request')} compared; a shadow has no verdict"
        return answer
    if kind == "split":
        outcomes, answer.arms = _split(base, name)
    else:
        outcomes = _interleaved(base, name)
    preference = answer.preference = _preference(outcomes, confidence)
    if preference.interval is not None and preference.always_valid_p <= 1.0 - confidence:
        if preference.interval[1] < 0.0:
            answer.better = "control"
        elif preference.interval[0] > 0.0 and preference.pages >= experiment.min_pages:
            answer.better = "candidate"
    answer.verdict = _sentence(answer, preference)
    return answer


def _preference(outcomes: list[float], confidence: float) -> Preference:
    if not outcomes:
        return Preference(
            pages=0, wins=0, losses=0, ties=0, credit=0.0, interval=(-1.0, 1.0), always_valid_p=1.0, p=1.0
        )
    sequence, planned = confidence_sequence(outcomes, most=1.0, confidence=confidence), verdict(outcomes)
    return Preference(
        pages=planned.pages, wins=planned.wins, losses=planned.losses, ties=planned.ties, credit=planned.credit,
        interval=sequence.interval, always_valid_p=sequence.p, p=planned.p,
    )  # fmt: skip


def _sentence(answer: ExperimentAnswer, preference: Preference) -> str:
    unit, p = "user" if answer.kind == "split" else "page", f"(always-valid p = {preference.always_valid_p:.3g})"
    if answer.better is not None:
        names = (answer.candidate, answer.control)
        better, worse = names if answer.better == "candidate" else names[::-1]
        return f"people prefer {better} to {worse} {p}"
    if preference.interval is None:
        return f"no verdict: what people prefer changed on the way {p}"
    if preference.pages < answer.min_pages:
        yet = " yet" if answer.ended is None else ""
        return f"no verdict{yet}: {preference.pages} of at least {counted(answer.min_pages, unit)}"
    return f"no significant preference after {counted(preference.pages, unit)} {p}"


_FIRST = "WITH first AS (SELECT min(n) FROM impression WHERE experiment=? GROUP BY coalesce(user, request)) "
"""First results page of each user; without a user, each page."""


def _interleaved(base: sqlite3.Connection, name: str) -> list[float]:
    """Mean credit of the clicks on each user's first page, in order of display; 0 without clicks."""
    rows = base.execute(
        f"{_FIRST}SELECT i.n, e.document, iif(e.document IS NULL, NULL, i.documents), "
        "iif(e.document IS NULL, NULL, i.arms) FROM impression AS i LEFT JOIN event AS e "
        "ON e.request=i.request AND e.kind='click' WHERE i.n IN first ORDER BY i.n",
        (name,),
    )
    outcomes = []
    for _, group in itertools.groupby(rows, key=lambda row: row[0]):
        clicks = [row for row in group if row[1] is not None]
        credit_of = dict(zip(json.loads(clicks[0][2]), json.loads(clicks[0][3]), strict=False)) if clicks else {}
        earned = [credit_of[document] for document in sorted({row[1] for row in clicks} & credit_of.keys())]
        outcomes.append(sum(earned) / max(1, len(earned)))
    return outcomes


def _split(base: sqlite3.Connection, name: str) -> tuple[list[float], dict[str, SplitArm]]:
    """Outcome of each user: 1 for a click on the first page, else 0, signed by arm; and counts of the arms."""
    rows = base.execute(
        f"{_FIRST}SELECT arms, EXISTS(SELECT 1 FROM event WHERE request=i.request AND kind='click') "
        "FROM impression AS i WHERE n IN first ORDER BY n",
        (name,),
    )
    arms = {"control": SplitArm(0, 0), "candidate": SplitArm(0, 0)}
    outcomes = []
    for text, clicked in rows:
        sign = json.loads(text)[0]
        arm = arms["candidate" if sign > 0 else "control"]
        arm.users += 1
        arm.clicked += clicked
        outcomes.append(sign * clicked)
    return outcomes, arms


def _shadow(base: sqlite3.Connection, name: str) -> ShadowAbout:
    row = base.execute(
        "SELECT count(*), avg(kendall), avg(overlap), avg(difference), 1000*avg(seconds) FROM shadow "
        "WHERE experiment=?",
        (name,),
    ).fetchone()
    return ShadowAbout(requests=row[0], kendall=row[1], top10_overlap=row[2], difference=row[3], ms=row[4])
