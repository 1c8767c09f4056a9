"""Export of feedback: as a click log, as training data with the logged features, and as judgments.

>>> log = click_log("feedback.db")  # doctest: +SKIP
>>> data = training_data("feedback.db", label="click")  # doctest: +SKIP
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

import numpy as np

from podium.base.arrays import Array, Singles
from podium.base.errors import DataError, PodiumError, counted
from podium.data.dataset import Dataset
from podium.service.feedback.behaviour_tables import served_names
from podium.service.feedback.database import FORMAT
from podium.service.feedback.events import HIGHEST_GRADE

if TYPE_CHECKING:
    from podium.clicks.log.click_log import ClickLog
    from podium.clicks.log.click_pages import PageList
    from podium.data.table import Table

_UNHELD = re.compile(r"[\s#%\x00-\x1f\x7f\ud800-\udfff]")


IN_RANGE = f"typeof(value)='real' AND value BETWEEN 0 AND {HIGHEST_GRADE}"
"""SQL condition for a valid grade: older stores may have others, which are left out."""


@dataclass(frozen=True)
class Totals:
    """Counts of a feedback store."""

    impressions: int
    events: dict[str, int]
    unknown: int  # events whose request was not logged
    out_of_range: int  # judgments that are not exported
    first: int | None  # ms since 1970
    last: int | None
    bytes: int


@dataclass(frozen=True, slots=True)
class _Shown:
    request: str
    at: int
    model: str
    names: tuple[str, ...]
    query: str
    user: str | None
    documents: list[str]
    features: Singles


def totals(path: str | os.PathLike[str]) -> Totals:
    """Count the impressions and events of a feedback store."""
    with reading_store(path) as base:
        kinds = dict(base.execute("SELECT kind, count(*) FROM event GROUP BY kind ORDER BY kind").fetchall())
        n, first, last = base.execute("SELECT count(*), min(at), max(at) FROM impression").fetchone()
        unknown = base.execute(
            "SELECT count(*) FROM event WHERE request<>'' AND request NOT IN (SELECT request FROM impression)"
        ).fetchone()[0]
        odd = base.execute(f"SELECT count(*) FROM event WHERE kind='judgment' AND NOT ({IN_RANGE})").fetchone()[0]
        return Totals(n, kinds, unknown, odd, first, last, os.path.getsize(path))


def click_log(
    path: str | os.PathLike[str], *, actions: Sequence[str] = ("click",), by: Literal["query", "request"] = "query"
) -> ClickLog:
    """Results pages that were shown, with their clicks; `page_ids` are the ids of the requests.

    By "request", each results page is a query named after its request, and ids are spelled as in `training_data`.
    """
    from podium.clicks.log.click_pages import PageList

    pages = PageList(os.fspath(path), unit="impression ")
    with reading_store(path) as base:
        for number, shown in enumerate(_impressions(base), 1):
            query = shown.request if by == "request" else shown.query
            if not query or not shown.documents:
                pages.dropped_pages += 1
                continue
            _add_page(pages, base, shown, number, query=query, actions=actions, words=by == "request")
        marks = ",".join("?" * len(actions))
        pages.dropped_clicks += base.execute(
            f"SELECT count(*) FROM event WHERE kind IN ({marks}) AND request NOT IN (SELECT request FROM impression)",
            list(actions),
        ).fetchone()[0]
    if not pages.lines:
        raise DataError('no impression of a query. Rank with "query" set, while --store is on.', where=os.fspath(path))
    return pages.log()


def training_data(path: str | os.PathLike[str], *, label: str = "click", model: str | None = None) -> tuple[Table, int]:
    """Training data: documents as shown, with the features that they were ranked by; and the impressions left out.

    With a kind of event as `label`, each impression is a query, and documents with the event have label 1. With
    "judgment", the last impression of each query is used, with the mean of the judges' grades; unjudged documents are
    left out. Only impressions with the features of the newest one, or of `model`, are used: searches without a model
    have none. Ids are spelled by `word`.
    """
    with reading_store(path) as base:
        grades = _grades(base) if label == "judgment" else None
        wanted = _features(base, model, path)
        served = [name for name in served_names(base) if name in wanted]
        parts, left_out = [], 0
        for shown in _impressions(base, last_of_query=grades is not None):
            if shown.names != wanted or (model is not None and shown.model != model):
                left_out += 1
                continue
            part = _labelled(base, shown, label, grades)
            if len(part[0]):
                parts.append((shown.request, *part))
    if not parts:
        raise DataError(f"no impression with a {label} to learn from.", where=os.fspath(path))
    sizes = [len(rows) for _, rows, _, _ in parts]
    data = Dataset.from_arrays(
        np.concatenate([features for _, _, features, _ in parts]),
        np.concatenate([labels for _, _, _, labels in parts]),
        qid=np.repeat(np.array([word(request) for request, *_ in parts], object), sizes),
        document_ids=np.array([word(id) for _, rows, _, _ in parts for id in rows], object),
        feature_names=None if wanted == tuple(str(l + 1) for l in range(len(wanted))) else wanted,
        source=os.fspath(path),
    )
    return replace(data, info={"behaviour": served}) if served else data, left_out


def judgments(path: str | os.PathLike[str]) -> list[tuple[str, str, str, float]]:
    """(query, document, judge, grade) of every judgment."""
    with reading_store(path) as base:
        return [row for row in _judged(base) if row[0]]


def word(id: str) -> str:
    """Percent-encode the characters of an id that whitespace-separated files cannot contain.

    >>> word("red boots")
    'red%20boots'
    """
    return _UNHELD.sub(lambda sign: quote(sign[0], safe="", errors="surrogatepass"), id)


def backup(path: str | os.PathLike[str], target: str | os.PathLike[str]) -> None:
    """Copy a feedback store while the service writes to it."""
    with reading_store(path) as base:
        try:
            os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:
            raise DataError("is there already; a backup replaces nothing.", where=os.fspath(target)) from None
        except OSError as error:
            raise DataError(f"the backup failed: {error.strerror}.", where=os.fspath(target)) from error
        try:
            base.execute("PRAGMA query_only=OFF")
            base.execute("VACUUM INTO ?", (os.fspath(target),))
        except sqlite3.Error as error:
            os.unlink(target)
            raise DataError(f"the backup failed: {error}.", where=os.fspath(target)) from error


@contextmanager
def reading_store(path: str | os.PathLike[str]) -> Iterator[sqlite3.Connection]:
    """Open a feedback store for reading."""
    base = FORMAT.open(Path(path))
    try:
        base.execute("PRAGMA query_only=ON")
        yield base
    except PodiumError:
        raise
    except sqlite3.Error as error:
        raise DataError(
            f"cannot be read ({error}). Restore a backup if it is damaged.", where=os.fspath(path)
        ) from error
    except Exception as error:  # a damaged row may cause any error
        what = f"{type(error).__name__}: {str(error)[:200]}"
        raise DataError(f"a row of it is damaged ({what}). Restore a backup.", where=os.fspath(path)) from error
    finally:
        base.close()


def _impressions(base: sqlite3.Connection, *, last_of_query: bool = False) -> Iterator[_Shown]:
    only = "AND i.n IN (SELECT max(n) FROM impression GROUP BY query)" if last_of_query else ""
    rows = base.execute(
        "SELECT request, at, name, m.features, query, hex(user), documents, i.features "
        f"FROM impression AS i, model AS m WHERE i.model=m.m {only} ORDER BY i.n"
    )
    for request, at, model, names, query, user, documents, features in rows:
        columns, ids = tuple(read_texts(names)), read_texts(documents)
        X = np.frombuffer(features, np.float32).reshape(len(ids), len(columns))
        if not np.isfinite(X[~np.isnan(X)]).all():
            raise ValueError(f"features of request {request} are infinite")
        yield _Shown(str(request), int(at), str(model), columns, str(query), user or None, ids, X)


def read_texts(text: str) -> list[str]:
    """Read a JSON list of texts from a row of the store."""
    texts = json.loads(text)
    if not isinstance(texts, list) or not all(isinstance(item, str) and item for item in texts):
        raise ValueError("a list of texts was expected")
    return texts


def _add_page(
    pages: PageList, base: sqlite3.Connection, shown: _Shown, number: int, *, query: str, actions: Sequence[str],
    words: bool,
) -> None:  # fmt: skip
    places = {document: place for place, document in enumerate(shown.documents, 1)}
    beyond = len(places) + 1
    question = "SELECT kind, document, value, at FROM event WHERE request=? ORDER BY n"
    events = base.execute(question, (shown.request,)).fetchall()
    clicks = [places.get(document, beyond) for kind, document, _, _ in events if kind in actions]
    pages.add(query, list(map(word, shown.documents)) if words else shown.documents, clicks, line=number)
    pages.set_name("page_ids", shown.request)
    pages.set_name("rankers", shown.model)
    pages.set_number("times", float(shown.at))
    if shown.user is not None:
        pages.set_name("users", shown.user)
    for kind, document, value, at in events:
        place = places.get(document, beyond)
        if kind in actions:
            pages.set_click(place, float(at), None)
        elif kind == "dwell" and value is not None:
            pages.set_click(place, None, float(value))


def _features(base: sqlite3.Connection, model: str | None, path: str | os.PathLike[str]) -> tuple[str, ...]:
    """Feature names of the newest impression, of a model if given."""
    row = base.execute(
        "SELECT m.features FROM impression AS i, model AS m WHERE i.model=m.m AND m.features<>'[]' "
        "AND (? IS NULL OR name=?) ORDER BY i.n DESC LIMIT 1",
        (model, model),
    ).fetchone()
    if row is None:
        logged = [name for (name,) in base.execute("SELECT DISTINCT name FROM model WHERE features<>'[]'")]
        what = "no impression with features"
        what += "" if model is None else f" of {model}; there are some of {', '.join(logged) or 'no model'}"
        raise DataError(f"{what}. Rank while --store is on.", where=os.fspath(path))
    return tuple(read_texts(row[0]))


def _labelled(
    base: sqlite3.Connection, shown: _Shown, label: str, grades: dict[tuple[str, str], float] | None
) -> tuple[list[str], Singles, Array]:
    """Labelled documents of an impression, with features and labels."""
    if grades is None:
        rows = base.execute("SELECT document FROM event WHERE request=? AND kind=?", (shown.request, label))
        chosen = {document for (document,) in rows}
        labels = np.array([float(id in chosen) for id in shown.documents])
        return shown.documents, shown.features, labels
    judged = [grades.get((shown.query, id)) for id in shown.documents]
    keep = [place for place, grade in enumerate(judged) if grade is not None]
    return [shown.documents[k] for k in keep], shown.features[keep], np.array([judged[k] for k in keep], np.float64)


def _judged(base: sqlite3.Connection) -> list[Any]:
    return base.execute(
        "SELECT CASE WHEN e.query<>'' THEN e.query ELSE coalesce(i.query, '') END, document, who, value "
        "FROM event AS e LEFT JOIN impression AS i ON e.request=i.request "
        f"WHERE kind='judgment' AND {IN_RANGE} ORDER BY e.n"
    ).fetchall()


def _grades(base: sqlite3.Connection) -> dict[tuple[str, str], float]:
    votes: dict[tuple[str, str], list[float]] = {}
    for query, document, _, grade in _judged(base):
        if query:
            votes.setdefault((query, document), []).append(grade)
    return {pair: float(np.mean(grades)) for pair, grades in votes.items()}


def shown_left_out(n: int) -> str:
    """Sentence about the impressions that were not used; "" if there are none."""
    return f"{counted(n, 'impression')} of other models or features left out." if n else ""
