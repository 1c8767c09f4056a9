"""Ask a live engine: one search for each query, several at once; answers are kept as they came.

Answers are lines `{"query": ID, "asked": HASH, "response": ANSWER}` of a file, which `podium features` reads. Each is
written when it comes, and the lines are put into the order of the queries when all have been asked. A run that was
stopped goes on where it was: a query is asked only if the file has no answer to the same search. An answer that is not
whole, or none that podium can read, is not kept.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import NamedTuple

from podium.base.appended_lines import cut_partial_line, is_continued
from podium.base.errors import DataError, RequestError
from podium.base.files import claimed, write_aside
from podium.base.http_requests import Server
from podium.base.progress import Progress, quiet
from podium.engines.search_bodies import PATHS, Body, Engine
from podium.formats.engines.engine_answers import read_answer


class Asked(NamedTuple):
    """What became of the queries."""

    before: int  # answered by an earlier run
    now: int
    failed: dict[str, str]  # queries without an answer, and why


def ask(
    server: Server,
    engine: Engine,
    bodies: dict[str, Body],
    path: str,
    *,
    at_once: int = 4,
    progress: Progress = quiet,
) -> Asked:
    """Ask for each body, by query, that the file does not answer yet, and append each answer as it comes."""
    hashes = {query: _hash(server.url, body) for query, body in bodies.items()}

    def send(query: str) -> bytes | str:
        return _answer(server, engine, query, bodies[query], hashes[query])

    with claimed(path):  # another process would ask the same again
        before = _answered(path, hashes)
        left = [query for query in bodies if query not in before]
        cut_partial_line(path)
        failed = _append(path, left, send, at_once, progress)
        if len(failed) < len(left):
            _sort(path, bodies)
    return Asked(len(before), len(left) - len(failed), failed)


def _append(
    path: str, queries: list[str], send: Callable[[str], bytes | str], at_once: int, progress: Progress
) -> dict[str, str]:
    """Append the line of each query's answer as it comes; returns the queries without one, and why."""
    failed, writing = dict[str, str](), threading.Lock()
    with open(path, "ab") as file, ThreadPoolExecutor(at_once) as pool:

        def keep(query: str) -> str | None:
            line = send(query)
            if isinstance(line, str):
                return line
            with writing:
                file.write(line)
                file.flush()
            return None

        try:
            answers = {pool.submit(keep, query): query for query in queries}
            for number, answer in enumerate(as_completed(answers), 1):
                why = answer.result()
                if why is not None:
                    failed[answers[answer]] = why
                progress(number / len(queries))
        except BaseException:
            pool.shutdown(cancel_futures=True)  # answers that are under way are kept
            raise
    return {query: failed[query] for query in queries if query in failed}


def _sort(path: str, queries: Iterable[str]) -> None:
    """Put the lines of a file into the order of the queries; those of other queries stay first."""
    places, lines, start = {query: n for n, query in enumerate(queries, 1)}, [], 0
    with open(path, "rb") as file:
        for line in file:
            lines.append((places.get(json.loads(line)["query"], 0), start, len(line)))
            start += len(line)
        ordered = sorted(lines)
        if ordered == lines:
            return
        with write_aside(path) as target:
            for _, start, size in ordered:
                file.seek(start)
                target.write(file.read(size))


def _answer(server: Server, engine: Engine, query: str, body: Body, asked: str) -> bytes | str:
    """The line of an answer; a text that says why there is none, if the engine may give it later."""
    try:
        answer = server.send("POST", PATHS[engine], json.dumps(body).encode())
    except RequestError as error:
        if not error.again:
            raise
        return str(error)
    if answer.status == 429 or answer.status >= 500:
        return f"status {answer.status}: {answer.text}"
    if answer.status != 200:
        raise RequestError(
            f"{server.url}{PATHS[engine]} answered {answer.status} to query {query!r}: {answer.text or 'nothing'}"
        )
    try:
        record = {"query": query, "asked": asked, "response": json.loads(answer.content)}
    except (ValueError, RecursionError):
        raise RequestError(f"{server.url} answered query {query!r} with no JSON: {answer.text}") from None
    try:
        read_answer(record, f"the answer to query {query!r}")
    except DataError as error:
        return str(error)
    return json.dumps(record).encode() + b"\n"


def _hash(url: str, body: Body) -> str:
    return hashlib.sha256(json.dumps([url, body], sort_keys=True).encode()).hexdigest()[:16]


def _answered(path: str, hashes: dict[str, str]) -> set[str]:
    """The queries that a file answers; an error if one was another search, or if the file is of another kind."""
    queries: set[str] = set()
    if not is_continued(path):
        return queries
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                break
            try:
                record = json.loads(line)
                query, asked = record["query"], record["asked"]
                if not isinstance(query, str):
                    raise TypeError
            except (ValueError, KeyError, TypeError, RecursionError):
                raise DataError(
                    "no answer that podium ask wrote. Write answers to a file of their own.", where=f"{path}:{number}"
                ) from None
            if hashes.get(query, asked) != asked:
                raise DataError(
                    f"query {query!r} was asked otherwise: another text, template, URL or number of documents. Write "
                    "answers to another file, or delete this one.",
                    where=f"{path}:{number}",
                )
            queries.add(query)
    return queries & hashes.keys()
