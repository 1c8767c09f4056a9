"""Fusions give the scores of ranx, on random pairs of runs without equal scores."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys

import numpy as np
import pytest

from podium.aggregation import Aggregator, SupervisedAggregator, with_labels
from podium.aggregation.rankings.rankings import Rankings

pytestmark = pytest.mark.slow

PLAIN = {
    "isr": "isr", "log_isr": "isr(log=true)", "logn_isr:sigma=0.3": "isr(log=true,sigma=0.3)",
    "rbc:phi=0.7": "rbc(phi=0.7)",
    "anz": "comb(how=anz)", "gmnz:gamma=2": "comb(how=gmnz,gamma=2.0)", "max": "comb(how=max)", "min": "comb(how=min)",
    "med": "comb(how=median)", "sum": "combsum", "mnz": "combmnz", "rrf:k=7": "rrf(k=7.0)",
    "sum/borda": "combsum(normalise=borda)", "mnz/borda": "combmnz(normalise=borda)",
    "med/borda": "comb(how=median,normalise=borda)",
}  # fmt: skip
LEARNED = {
    "mapfuse": "map-fuse", "bayesfuse": "bayes-fuse", "posfuse": "pos-fuse", "slidefuse:w=2": "pos-fuse(window=2)",
    "probfuse:n_segments=3": "prob-fuse(segments=3)", "segfuse": "seg-fuse",
}  # fmt: skip
PROGRAM = """
import importlib, json, sys
from ranx import Qrels, Run, fuse
from ranx.fusion import fusion_switch

cases, plain, learned = json.load(sys.stdin)


def split(text):
    name, _, rest = text.partition(":")
    key, _, value = rest.partition("=")
    return name, {key: float(value) if "." in value else int(value)} if key else {}


answers = []
for case in cases:
    runs, qrels, answer = [Run(run) for run in case["runs"]], Qrels(case["qrels"]), {}
    for text in plain:
        method, _, norm = text.partition("/")
        name, params = split(method)
        answer[text] = fuse(runs, method=name, params=params, norm=norm or "min-max")
    for text in learned:
        name, params = split(text)
        module = importlib.import_module(f"ranx.fusion.{name}")
        trained = getattr(module, f"{name}_train")(qrels, runs, *params.values() if name == "probfuse" else ())
        field = {"mapfuse": "map_scores", "bayesfuse": "log_odds"}.get(name, "probs")
        more = params if name == "slidefuse" else {}
        answer[text] = fuse(runs, method=name, params={field: trained, **more})
    answers.append({text: {q: dict(d) for q, d in run.run.items()} for text, run in answer.items()})
json.dump(answers, sys.stdout, default=float)
"""


def cases(count: int) -> list[dict[str, object]]:
    """Pairs of runs of six queries, all of which have relevant documents that both runs rank."""
    rng, drawn = np.random.default_rng(0), []
    for _ in range(count):
        runs: list[dict[str, dict[str, float]]] = [{}, {}]
        qrels = {}
        for q in range(6):
            names = [f"d{d}" for d in range(20)]
            for run in runs:
                chosen = rng.permutation(names)[: rng.integers(4, 18)]
                run[f"q{q}"] = {d: float(s) for d, s in zip(chosen, rng.permutation(100) / 7, strict=False)}
            both = sorted({*runs[0][f"q{q}"], *runs[1][f"q{q}"]})
            qrels[f"q{q}"] = dict.fromkeys(rng.permutation(both)[:3].tolist(), 1)
        drawn.append({"runs": runs, "qrels": qrels})
    return drawn


def of_ranx(
    drawn: list[dict[str, object]], plain: list[str], learned: list[str]
) -> list[dict[str, dict[str, dict[str, float]]]]:
    """Answers of ranx, uncompiled: compiling it takes minutes."""
    answer = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=json.dumps([drawn, plain, learned]),
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(answer.stdout)  # type: ignore[no-any-return]


def votes_of(case: dict[str, object]) -> Rankings:
    """The runs of a case as lists of voters."""
    rows = [(q, str(v), d, s) for v, run in enumerate(case["runs"]) for q, e in run.items() for d, s in e.items()]  # type: ignore[arg-type, var-annotated]
    queries, voters, documents, scores = (list(column) for column in zip(*rows, strict=True))
    return Rankings.from_entries(queries, voters, documents, scores=scores)


def test_condorcet_of_three_runs_without_cycles_is_kwiksort() -> None:
    if importlib.util.find_spec("ranx") is None:
        pytest.skip("could not import 'ranx'")
    rng, runs = np.random.default_rng(0), [{}, {}, {}]  # type: list[dict[str, dict[str, float]]]
    for q in range(60):
        for run in runs:
            run[f"q{q}"] = {f"d{d}": float(s) for d, s in enumerate(rng.permutation(5))}
    case: dict[str, object] = {"runs": runs, "qrels": {"q0": {"d0": 1}}}
    theirs, votes = of_ranx([case], ["condorcet"], [])[0]["condorcet"], votes_of(case)
    ours, duels, compared = Aggregator.parse("kwiksort")(votes), Aggregator.parse("copeland")(votes), 0
    for q, (a, b) in enumerate(zip(ours.offsets[:-1], ours.offsets[1:], strict=True)):
        if len(set(duels.scores[a:b])) == b - a:  # no cycle
            compared += 1
            scores = theirs[str(ours.query_ids[q])]
            assert ours.order(q) == sorted(scores, key=lambda name: -scores[name])
    assert compared > 20


def test_ranx() -> None:
    """On random pairs of runs."""
    if importlib.util.find_spec("ranx") is None:
        pytest.skip("could not import 'ranx'")
    pairs = cases(50)
    for case, theirs in zip(pairs, of_ranx(pairs, list(PLAIN), list(LEARNED)), strict=True):
        votes = votes_of(case)
        judged = with_labels(votes, case["qrels"])  # type: ignore[arg-type]
        for text, name in {**PLAIN, **LEARNED}.items():
            method = SupervisedAggregator.parse(name).fit(judged) if text in LEARNED else Aggregator.parse(name)
            fused = method(votes)
            for q, (a, b) in enumerate(zip(fused.offsets[:-1], fused.offsets[1:], strict=True)):
                ours = dict(zip(map(str, fused.document_ids[a:b]), fused.scores[a:b].tolist(), strict=True))
                assert ours == pytest.approx(theirs[text][str(fused.query_ids[q])], rel=0, abs=1e-9), text
