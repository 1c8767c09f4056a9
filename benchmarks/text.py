"""Documents: indexing, search and features, beside bm25s and tantivy, on made-up text with the word counts of Zipf.

The work differs: bm25s and tantivy keep no positions or frequencies for features that Python can read, and tantivy and
podium index two fields. All read the same file.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.command_line import process
from benchmarks.contest import Contest
from benchmarks.peers import peer

DEPTH = 100
CODE = "from benchmarks.text import {what}; {what}({folder!r})"


def contests(*, quick: bool) -> Iterator[Contest]:
    n = 2_000 if quick else 100_000
    with tempfile.TemporaryDirectory() as folder:
        with open(Path(folder) / "documents.jsonl", "w", encoding="utf-8") as file:
            file.writelines(f"{json.dumps(one)}\n" for one in made_up_documents(n))
        yield Contest(
            f"index {n:,} documents of 28 words, in a process of its own",
            lambda: alone("index_with_podium", folder),
            {
                "bm25s": _or_absent("bm25s", lambda: alone("index_with_bm25s", folder)),
                "tantivy": _or_absent("tantivy", lambda: alone("index_with_tantivy", folder)),
            },
            goal="≤ 6 s",
            most_seconds=6.0,
            repeats=1,
            warm_up=False,
            note=lambda: sizes(folder),
        )
        yield from searches(n, folder)


def searches(n: int, folder: str) -> Iterator[Contest]:
    from podium.text.context import Context
    from podium.text.features import Plan, read_features
    from podium.text.index.index import Index

    index, queries = Index.open(Path(folder) / "podium.index"), made_up_queries(300)
    yield Contest(
        f"search {n:,} documents for 4 words, the best 100",
        _each(queries, lambda text: index.search(text, DEPTH)),
        {"bm25s": _bm25s(folder, queries), "tantivy": _tantivy(folder, queries)},
        goal="p50 ≤ .25 ms",
        most_seconds=0.25e-3,
        per_call=len(queries),
    )
    wanted = [feature for feature in read_features("podium", index) if repr(feature) != "lsi"]
    found = [(query, index.search(query, DEPTH)) for query in map(index.query, queries)]
    plan, parts = Plan(wanted, index), iter(())

    def features() -> None:
        nonlocal parts
        query, hits = next(parts, (None, None))
        if hits is None:
            parts = iter(found)
            query, hits = next(parts)
        plan.matrix(Context(index, query, hits.numbers, hits.scores))

    yield Contest(
        f"{len(wanted)} features of 100 candidates",
        features,
        {},
        goal="p50 ≤ .35 ms",
        most_seconds=0.35e-3,
        per_call=len(queries),
    )
    index.close()


def alone(what: str, folder: str) -> dict[str, float]:
    return process(sys.executable, "-c", CODE.format(what=what, folder=folder))


def index_with_podium(folder: str) -> None:
    from podium.text.index.index import Index

    for old in Path(folder).glob("podium.index*"):
        if old.is_file():
            old.unlink()
    Index.create(Path(folder) / "podium.index", documents(folder)).close()
    _write_memory(folder, "podium")


def index_with_bm25s(folder: str) -> None:
    import bm25s
    import Stemmer

    texts = [f"{one['title']} {one['text']}" for one in documents(folder)]
    tokens = bm25s.tokenize(texts, stopwords="en", stemmer=Stemmer.Stemmer("english"), show_progress=False)
    made = bm25s.BM25(method="lucene")
    made.index(tokens, show_progress=False)
    made.save(str(Path(folder) / "bm25s"))
    _write_memory(folder, "bm25s")


def index_with_tantivy(folder: str) -> None:
    import tantivy

    target = Path(folder) / "tantivy"
    target.mkdir(exist_ok=True)
    writer = tantivy.Index(_schema(), path=str(target)).writer(num_threads=1)
    for one in documents(folder):
        writer.add_document(tantivy.Document(id=one["id"], title=one["title"], text=one["text"]))
    writer.commit()
    writer.wait_merging_threads()
    _write_memory(folder, "tantivy")


def _schema() -> Any:
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("id", stored=True, tokenizer_name="raw")
    builder.add_text_field("title", tokenizer_name="en_stem")
    builder.add_text_field("text", tokenizer_name="en_stem")
    return builder.build()


def _bm25s(folder: str, queries: list[str]) -> Any:
    here = peer("bm25s")
    if isinstance(here, str):
        return here
    import Stemmer

    stemmer, loaded = Stemmer.Stemmer("english"), here.BM25.load(str(Path(folder) / "bm25s"))
    loaded.backend = "numba"

    def search(text: str) -> None:
        tokens = here.tokenize([text], stopwords="en", stemmer=stemmer, show_progress=False)
        loaded.retrieve(tokens, k=DEPTH, show_progress=False)

    return _each(queries, search)


def _tantivy(folder: str, queries: list[str]) -> Any:
    here = peer("tantivy")
    if isinstance(here, str):
        return here
    index = here.Index(_schema(), path=str(Path(folder) / "tantivy"))
    searcher = index.searcher()

    def search(text: str) -> None:
        searcher.search(index.parse_query(text, ["title", "text"]), DEPTH)

    return _each(queries, search)


def _each(queries: list[str], search: Any) -> Any:
    """A call for the next query each time, round and round."""
    place = [0]

    def call() -> None:
        search(queries[place[0] % len(queries)])
        place[0] += 1

    return call


def _or_absent(name: str, call: Any) -> Any:
    here = peer(name)
    return here if isinstance(here, str) else call


def sizes(folder: str) -> str:
    """Memory and disk of each."""
    found = []
    for name in ("podium", "bm25s", "tantivy"):
        told = Path(folder) / f"{name}.memory"
        if told.exists():
            files = [
                path
                for path in Path(folder).rglob("*")
                if path.is_file() and f"{name}" in str(path.relative_to(folder))
            ]
            disk = sum(path.stat().st_size for path in files) / 1e6
            found.append(f"{name} {told.read_text()} MB of memory, {disk:.0f} MB on disk")
    return "; ".join(found) + "."


def _write_memory(folder: str, name: str) -> None:
    status = Path("/proc/self/status")  # what getrusage says includes the process that started this one
    peak = [line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmHWM")]
    (Path(folder) / f"{name}.memory").write_text(f"{int(peak[0]) / 1e3:.0f}")


def _words() -> tuple[Any, Any]:
    rng, size = np.random.default_rng(0), 60_000
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    words = np.array(["".join(rng.choice(letters, length)) for length in rng.integers(3, 9, size)])
    share = 1.0 / (np.arange(size) + 50.0)  # without stop words
    return words, np.cumsum(share / share.sum())


def documents(folder: str) -> Iterator[dict[str, str]]:
    with open(Path(folder) / "documents.jsonl", encoding="utf-8") as file:
        yield from map(json.loads, file)


def made_up_documents(n: int) -> Iterator[dict[str, str]]:
    words, shares = _words()
    rng = np.random.default_rng(1)
    for first in range(0, n, 1000):
        lengths = rng.integers(15, 42, 1000)
        drawn = words[np.minimum(np.searchsorted(shares, rng.random(lengths.sum())), len(words) - 1)]
        ends = np.cumsum(lengths)
        for k in range(min(1000, n - first)):
            mine = drawn[ends[k] - lengths[k] : ends[k]]
            yield {"id": f"d{first + k}", "title": " ".join(mine[:5]), "text": " ".join(mine[5:])}


def made_up_queries(n: int) -> list[str]:
    words, shares = _words()
    rng = np.random.default_rng(2)
    drawn = words[np.minimum(np.searchsorted(shares, rng.random((n, 4))), len(words) - 1)]
    return [" ".join(row) for row in drawn]
