"""Click models and click logs of a million pages × 10 documents, on one core: 50 plain EM steps, and reading files.

Pages are of 20,000 queries with 10 documents each, in random orders; clicks follow the position-based model. Timed are
counting and the EM steps, from arrays in memory; the note says what all of `fit` takes, with folding equal pages before
and predicting the log afterwards.
"""

from __future__ import annotations

import functools
import os
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.contest import Contest, timed
from podium.clicks import ClickLog, ClickModel, read_clicks, write_clicks

DOCUMENTS = 10
MODELS = {"pbm": 3.0, "ubm": 6.0, "dbn": 10.0, "ccm": 10.0, "dcm": 10.0}
FILES = {"parquet": 5.0, "jsonl": 30.0}
_PYCLICK = "hours at this size: 89 to 136 µs a page and step for PBM and UBM, 4.3 ms for DBN, measured on 2,872 pages"


def contests(*, quick: bool) -> Iterator[Contest]:
    pages = 50_000 if quick else 1_000_000
    log = made_up(pages, pages // 50)
    os.environ["PODIUM_THREADS"] = "1"
    for name, seconds in MODELS.items():
        model = ClickModel.parse(f"{name}(accelerate=false, iterations=50, tolerance=0)")
        yield Contest(
            f"{name}: 50 EM steps on {pages:,} pages × {DOCUMENTS}, {log.n_pairs:,} pairs",
            functools.partial(model.estimate, log.folded),
            {"PyClick": _PYCLICK},
            goal=f"≤ {seconds * pages / 1e6:g} CPU s",
            most_seconds=seconds * pages / 1e6,
            repeats=3,
            note=functools.partial(_whole, model, log),
        )
    with tempfile.TemporaryDirectory() as folder:
        for ending, seconds in FILES.items():
            path = Path(folder, f"log.{ending}")
            write_clicks(log, path)
            yield Contest(
                f"{pages:,} pages × {DOCUMENTS} from {'Parquet' if ending == 'parquet' else 'JSON Lines'}",
                functools.partial(_read, path),
                {},
                goal=f"≤ {seconds * pages / 1e6:g} CPU s",
                most_seconds=seconds * pages / 1e6,
                repeats=3,
                note=lambda path=path: f"a file of {path.stat().st_size / 1e6:.0f} MB",
            )


def made_up(pages: int, queries: int) -> ClickLog:
    """Pages of random queries in random orders, clicked by people who look at rank k with probability 1/k."""
    rng = np.random.default_rng(0)
    query = rng.integers(0, queries, pages)
    places = np.argsort(rng.random((pages, DOCUMENTS)), axis=1)
    documents = query[:, None] * DOCUMENTS + places
    attractive = rng.beta(1.0, 2.0, queries * DOCUMENTS)
    clicks = rng.random((pages, DOCUMENTS)) < attractive[documents] / np.arange(1, DOCUMENTS + 1)
    return ClickLog.from_codes(
        (query, [f"q{k}" for k in range(queries)]),
        (documents.ravel(), [f"d{k}" for k in range(queries * DOCUMENTS)]),
        offsets=np.arange(0, pages * DOCUMENTS + 1, DOCUMENTS),
        clicks=clicks.ravel().astype(np.uint8),
    )


def _whole(model: ClickModel, log: ClickLog) -> str:
    fresh = replace(log)  # a new log, whose equal pages are not yet folded
    return f"all of fit: {timed(lambda: model.fit(fresh))['cpu']:.1f} CPU s"


def _read(path: Path) -> Any:
    return read_clicks(path)
