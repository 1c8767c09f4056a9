"""First use: CPU seconds of a first evaluation and a first training, nothing compiled yet, beside the second process.

Training is `podium train` on a LETOR file of 60 queries, of which 12 validate. Every command is a fresh process.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import podium
from benchmarks.command_line import command, process
from benchmarks.contest import Contest
from benchmarks.made_up import trec_files
from podium.formats.letor.letor import write_letor
from podium.methods import METHODS

PEERS = {
    "ranx": "from ranx import Qrels, Run, evaluate; import sys; q, r = sys.argv[1:]; "
    "evaluate(Qrels.from_file(q, kind='trec'), Run.from_file(r, kind='trec'), ['ndcg@10', 'map', 'mrr'])",
    "pytrec_eval": "import pytrec_eval as p, sys; q, r = (open(name) for name in sys.argv[1:]); "
    "p.RelevanceEvaluator(p.parse_qrel(q), {'ndcg_cut.10', 'map', 'recip_rank'}).evaluate(p.parse_run(r))",
}


def contests(*, quick: bool) -> Iterator[Contest]:
    with tempfile.TemporaryDirectory() as folder:
        yield from _evaluations(Path(folder))
        data, model = Path(folder, "data.txt"), f"{folder}/m.podium"
        write_letor(podium.make_letor_like(60, seed=1)[0], data)
        for method in ["lambdamart", "ranknet"] if quick else METHODS:
            words = "train", str(data), "--method", method, "-o", model
            yield Contest(
                f"first training of {method}, nothing compiled",
                lambda words=words: _cold(sys.executable, "-m", "podium", *words),
                {"the same, all compiled": lambda words=words: command(*words)},
                goal="≤ 8 s",
                most_seconds=8.0,
                repeats=1,
                warm_up=False,
            )


def _evaluations(folder: Path) -> Iterator[Contest]:
    """A run of 3 lines, and one of 1,000, by each tool in a fresh process, without and with its cache."""
    for lines, queries, documents in ((3, 1, 3), (1000, 50, 20)):
        place = folder / str(lines)
        place.mkdir()
        qrels, (run,) = trec_files(place, runs=1, queries=queries, documents=documents)
        for state, start in (("nothing compiled", _cold), ("all compiled", process)):
            metrics = [word for name in ("ndcg@10", "map", "mrr") for word in ("--metric", name)]
            ours = sys.executable, "-m", "podium", "evaluate", str(qrels), str(run), *metrics
            yield Contest(
                f"evaluation of a run of {lines:,} lines, {state}",
                lambda start=start, ours=ours: start(*ours),
                {
                    name: lambda start=start, code=code, qrels=qrels, run=run: start(
                        sys.executable, "-c", code, str(qrels), str(run)
                    )
                    for name, code in PEERS.items()
                },
                repeats=1,
                warm_up=state == "all compiled",
            )


def _cold(*words: str) -> dict[str, float]:
    """CPU and wall seconds of a command with an empty cache of machine code."""
    with tempfile.TemporaryDirectory() as folder, patch.dict("os.environ", NUMBA_CACHE_DIR=folder):
        return process(*words)
