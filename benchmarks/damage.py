"""Damaged files: each mutation is refused in words, or changes no number. `python -m benchmarks.damage [MUTATIONS]`.

Targets are an index, its derived arrays, a cache of data, a model and the outcome of a comparison, each mutated in one
of seven ways: bits flipped, bytes overwritten, zeroed, cut off, added, swapped or repeated. A process that crashes ends
the run, after it has said what it was doing.
"""

from __future__ import annotations

import collections
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import podium
from podium.base.errors import PodiumError
from podium.comparison.plan import Task
from podium.comparison.results_folder import Store
from podium.evaluation.compare import Outcome
from podium.formats.cache.cache import open_cache
from podium.formats.cache.cache_writer import write_cache
from podium.text.index.index import Index
from podium.text.retrieval.candidates import dataset

DATA, _ = podium.make_letor_like(20, (4, 8), n_features=5, seed=1)
TASK = Task("Fold1", "listnet")


def main(mutations: int = 20_000, seed: int = 0) -> None:
    with tempfile.TemporaryDirectory() as place:
        for name, (make, look) in TARGETS.items():
            counts = trial(Path(place) / name, make, look, mutations // len(TARGETS), seed)
            print(f"{name:14}", ", ".join(f"{what} {n}" for what, n in sorted(counts.items())), flush=True)


def trial(
    folder: Path, make: Callable[[Path], None], look: Callable[[Path], Any], mutations: int, seed: int
) -> collections.Counter[str]:
    """How often damage changed nothing, was refused in words, gave another number, or another error."""
    make(folder / "whole")
    expected = look(_copied(folder))
    rng, counts = np.random.default_rng(seed), collections.Counter[str]()
    for _ in range(mutations):
        copy = _copied(folder)
        files = sorted(file for file in copy.rglob("*") if file.is_file())
        if name := next((name for name in ("i.cache", "runs") if (copy / name).exists()), None):
            files = sorted(file for file in (copy / name).rglob("*") if file.is_file())
        file = files[rng.integers(len(files))]
        before = file.read_bytes()
        file.write_bytes(mutated(before, rng))
        counts[_outcome(look, copy, expected)] += 1
    return counts


def _copied(folder: Path) -> Path:
    shutil.rmtree(folder / "copy", ignore_errors=True)
    return Path(shutil.copytree(folder / "whole", folder / "copy"))


def _outcome(look: Callable[[Path], Any], copy: Path, expected: Any) -> str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = look(copy)
    except PodiumError as error:
        return "refused" if "\n" not in str(error) else "refused in several lines"
    except Exception as error:
        print(f"{copy}: {error!r}", file=sys.stderr)
        return "OTHER ERROR"
    return "same" if found == expected else "OTHER NUMBER"


def mutated(whole: bytes, rng: np.random.Generator) -> bytes:
    """The bytes, damaged in one of seven ways."""
    raw, n = bytearray(whole), len(whole)
    way = int(rng.integers(7))
    a, b = sorted(int(x) for x in rng.integers(0, n + 1, 2)) if n else (0, 0)
    b = min(b, a + int(rng.integers(1, 200)))
    if way == 0 and n:
        for at in rng.integers(0, n, rng.integers(1, 4)):
            raw[at] ^= 1 << int(rng.integers(8))
    elif way == 1:
        raw[a:b] = rng.bytes(b - a)
    elif way == 2:
        raw[a:b] = bytes(b - a)
    elif way == 3:
        del raw[a:]
    elif way == 4:
        raw[a:a] = rng.bytes(int(rng.integers(1, 50)))
    elif way == 5:
        raw[a:b] = raw[a:b][::-1]
    else:
        raw[a:a] = raw[a:b]
    return bytes(raw)


def _make_index(folder: Path) -> None:
    folder.mkdir(parents=True)
    rng = np.random.default_rng(0)
    words = [f"word{k}" for k in range(60)]
    documents = [
        {
            "id": f"d{k}", "title": " ".join(rng.choice(words, 3)), "text": " ".join(rng.choice(words, 20)),
            "year": 1990 + k, "vector": rng.normal(size=4).tolist(), "links": [f"d{(k * 7) % 30}"],
        }
        for k in range(30)
    ]  # fmt: skip
    index = Index.create(folder / "i", documents[:25])
    index.add(documents[25:])
    index.delete(["d3"])
    _look_at_index(folder)
    index.close()


def _look_at_index(folder: Path) -> Any:
    index = Index.open(folder / "i")
    try:
        hits = [index.search(query, 20, by=by) for query in ("word1 word2 word7", "word9") for by in ("bm25", "ql")]
        queries = [{"id": "q", "text": "word3 word4 word5"}]
        data = dataset(index, queries, features="podium", depth=10)
        shown = [index.document(id) for one in hits for id in one.ids]
        vectors = index.search("word1", 5, by="vectors", vector=[1.0, 0.0, 0.5, 2.0])
        numbers = [(one.ids, one.scores.tobytes()) for one in [*hits, vectors]]
        return numbers, data.features.tobytes(), repr(shown), index.store.stored_fields(), len(index)
    finally:
        index.close()


def _make_store(folder: Path) -> None:
    _make_index(folder)
    shutil.rmtree(folder / "i.cache")


def _make_cache(folder: Path) -> None:
    folder.mkdir(parents=True)
    write_cache(DATA, folder / "x.pod")


def _look_at_cache(folder: Path) -> Any:
    data = open_cache(folder / "x.pod")
    return data.digest(), None if data.query_ids is None else list(data.query_ids), data.feature_names


def _make_model(folder: Path) -> None:
    folder.mkdir(parents=True)
    podium.train(DATA, "listnet").save(folder / "m.podium")


def _look_at_model(folder: Path) -> Any:
    return podium.Model.load(folder / "m.podium").score(DATA).tobytes()


def _make_outcome(folder: Path) -> None:
    folder.mkdir(parents=True)
    model = podium.train(DATA, "listnet")
    values = np.array([[0.5, np.nan, 0.25]])
    outcome = Outcome(
        method="listnet", fold="Fold1", learner="listnet", info={"penalty": 0.1}, seconds=1.0,
        query_ids=("1", "2", "3"), values=values, model=model, details={}, seed=0, provenance={"seconds": 1.0},
    )  # fmt: skip
    Store(folder).write(TASK, "key", outcome)


def _look_at_outcome(folder: Path) -> Any:
    found = Store(folder).read(TASK, "key")
    if found is None:
        raise PodiumError("run again")
    return found.values.tobytes(), found.query_ids, repr(found.info), found.seconds


TARGETS: dict[str, tuple[Callable[[Path], None], Callable[[Path], Any]]] = {
    "model": (_make_model, _look_at_model),
    "cache": (_make_cache, _look_at_cache),
    "outcome": (_make_outcome, _look_at_outcome),
    "derived arrays": (_make_index, _look_at_index),
    "index": (_make_store, _look_at_index),
}


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
