"""Experiment results: what the store says of an experiment. All statistics are of `podium.evaluation`.

An outcome above 0 is a win of the candidate. A page of interleaving is won by the credits of its clicks; in a split, a
user's first page is a win for its arm if it has a click. Every user is in either arm by chance, so that wins and losses
are equally likely if the arms do not differ.
"""

from __future__ import annotations

import itertools
import json
import sqlite3
from dataclasses import dataclass

import numpy as np

from podium.errors import counted
from podium.evaluation.confidence_sequence import confidence_sequence
from podium.evaluation.interleaving import Page
from podium.evaluation.verdict import verdict
from podium.service.experiment_schemas import ExperimentAnswer, Kind, Preference, ShadowAbout, SplitArm, Why


@dataclass(frozen=True, slots=True)
class Experiment:
    """An experiment as it is kept: a row of its table."""

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
    """An experiment with what it says so far."""
    one = experiment
    answer = ExperimentAnswer(
        name=one.name, kind=one.kind, control=one.control, candidate=one.candidate,
        method=one.method if one.kind == "interleave" else None, min_pages=one.min_pages, confidence=one.confidence,
        started=one.started, ended=one.ended, why=one.why, better=None, verdict="", preference=None, arms=None,
        shadow=None,
    )  # fmt: skip
    if one.kind == "shadow":
        answer.shadow = _shadow(base, one.name)
        answer.verdict = f"{counted(answer.shadow.requests, 'request')} compared; a shadow has no verdict"
        return answer
    if one.kind == "split":
        outcomes, answer.arms = _split(base, one.name)
        pages = sum(arm.users for arm in answer.arms.values())
    else:
        outcomes, pages = _interleaved(base, one.name)
    found = answer.preference = _preference(outcomes, pages, one.confidence)
    if found.always_valid_p <= 1.0 - one.confidence:
        if found.losses > found.wins:
            answer.better = "control"
        elif found.wins > found.losses and pages >= one.min_pages:
            answer.better = "candidate"
    answer.verdict = _sentence(answer, found)
    return answer


def _preference(outcomes: list[float], pages: int, confidence: float) -> Preference:
    sequence = confidence_sequence(outcomes, confidence=confidence)
    tied = verdict(np.pad(outcomes, (0, pages - len(outcomes)))) if pages else None
    return Preference(
        pages=pages, wins=sequence.wins, losses=sequence.losses, ties=pages - sequence.wins - sequence.losses,
        share=None if tied is None else tied.share, interval=sequence.interval, always_valid_p=sequence.p,
        p=1.0 if tied is None else tied.p,
    )  # fmt: skip


def _sentence(answer: ExperimentAnswer, found: Preference) -> str:
    unit = "user" if answer.kind == "split" else "page"
    if answer.better is not None:
        names = (answer.candidate, answer.control)
        better, worse = names if answer.better == "candidate" else names[::-1]
        return f"people prefer {better} to {worse} (always-valid p = {found.always_valid_p:.3g})"
    if found.pages < answer.min_pages:
        yet = " yet" if answer.ended is None else ""
        return f"no verdict{yet}: {found.pages} of at least {counted(answer.min_pages, unit)}"
    return f"no significant preference after {counted(found.pages, unit)} (always-valid p = {found.always_valid_p:.3g})"


def _interleaved(base: sqlite3.Connection, name: str) -> tuple[list[float], int]:
    """The outcomes of the pages with clicks, in the order in which they were shown, and the number of all pages."""
    (pages,) = base.execute("SELECT count(*) FROM impression WHERE experiment=?", (name,)).fetchone()
    rows = base.execute(
        "SELECT i.n, i.documents, i.arms, e.document FROM impression AS i JOIN event AS e ON e.request=i.request "
        "WHERE i.experiment=? AND e.kind='click' ORDER BY i.n",
        (name,),
    )
    outcomes = []
    for _, group in itertools.groupby(rows, key=lambda row: row[0]):
        clicks = list(group)
        documents = json.loads(clicks[0][1])
        page = Page("", "", tuple(documents), tuple(json.loads(clicks[0][2])))
        places = {id: place for place, id in enumerate(documents, 1)}
        outcomes.append(page.outcome(places[row[3]] for row in clicks if row[3] in places))
    return outcomes, pages


def _split(base: sqlite3.Connection, name: str) -> tuple[list[float], dict[str, SplitArm]]:
    """Whether each user clicked on the first page, signed by arm, and the arms. Without a user, each page is one."""
    rows = base.execute(
        "WITH first AS (SELECT min(n) FROM impression WHERE experiment=? GROUP BY coalesce(user, request)) "
        "SELECT arms, EXISTS(SELECT 1 FROM event WHERE request=i.request AND kind='click') FROM impression AS i "
        "WHERE n IN first ORDER BY n",
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
