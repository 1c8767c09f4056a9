"""`podium features --clicks`: behaviour features of the candidates of queries, counted in a click log."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import TYPE_CHECKING

from podium.base.errors import counted
from podium.cli import click_logs, console

if TYPE_CHECKING:
    from podium.clicks.behaviour.candidate_features import CandidateBehaviour
    from podium.text.collection.collection import Topic
    from podium.text.features import Feature
    from podium.text.index.index import Index

DEFAULT_SET = "podium,clicks,rate,coec,rate(by=query-document)"


def with_clicks(
    set: str | None, clicks: str | None, index: Index, topics: Sequence[Topic]
) -> tuple[list[str | Feature], CandidateBehaviour | None]:
    """The features of an index among those asked for, and those that are counted in a log, if there are any."""
    from podium.text.retrieval.candidates import with_clicks

    log = None if clicks is None else click_logs.read_log(clicks, repeated="keep")
    others, behaviour = with_clicks(set or ("podium" if log is None else DEFAULT_SET), log, index, topics)
    if behaviour is not None:
        _say(behaviour, str(clicks), topics)
    return others, behaviour


def _say(behaviour: CandidateBehaviour, source: str, topics: Sequence[Topic]) -> None:
    known = sum(topic.id in behaviour.queries for topic in topics)
    console.say(f"{known} of {counted(len(topics), 'query', 'queries')} in {source}")
    late = sum(topic.time is None for topic in topics)
    if late:
        end = datetime.datetime.fromtimestamp(behaviour.end / 1000, datetime.UTC).isoformat(timespec="seconds")
        console.say(
            f"warning: {counted(late, 'query', 'queries')} without a time: what users did is counted up to the end of "
            f"{source}, {end}. If judgments were made from its clicks, they leak: give queries a time, or an older log."
        )
