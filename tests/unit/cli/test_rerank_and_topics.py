"""`podium rank --rerank`, and metrics of topics in `podium evaluate`, `compare` and `train`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

Podium = Callable[..., Any]


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, podium: Podium) -> None:
    """Data with topics, of which the first has the largest feature, and a model of it."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    lines, topics = [], []
    for q in range(8):
        for d in range(9):
            relevant = int(rng.random() < 0.6)
            lines.append(f"{relevant} qid:q{q} 1:{relevant + 0.5 * (d % 3 == 0) + 0.1 * rng.normal():.3f} # q{q}d{d}\n")
            topics.append(f"q{q} t{d % 3} q{q}d{d} {relevant}\n")
    Path("data.txt").write_text("".join(lines))
    Path("data.txt.topics").write_text("".join(topics))
    Path("plain.txt").write_text("".join(lines))
    assert podium("train", "data.txt", "--method", "regression", "-o", "m.podium").exit_code == 0


@pytest.mark.usefixtures("shop")
def test_a_reranked_run_covers_topics_earlier(podium: Podium) -> None:
    means = {}
    for name, words in {"plain": (), "diverse": ("--rerank", "xquad")}.items():
        assert podium("rank", "m.podium", "data.txt", "--format", "trec", "-o", f"{name}.run", *words).exit_code == 0
        result = podium(
            "evaluate", "data.txt.topics", f"{name}.run", "-m", "alpha-ndcg@5", "--preset", "ndeval", "--json"
        )
        means[name] = json.loads(result.stdout)["metrics"]["alpha-ndcg@5[ndeval]"]["mean"]
    assert means["diverse"] > means["plain"] + 0.02
    table = podium("compare", "data.txt.topics", "plain.run", "diverse.run", "-m", "s-recall@2").stdout
    assert "s-recall@2" in table


@pytest.mark.usefixtures("shop")
def test_reranked_scores_are_ranks_from_the_last_in_every_format(podium: Podium) -> None:
    scores = [float(line) for line in podium("rank", "m.podium", "data.txt", "--rerank", "xquad").stdout.split()]
    assert sorted(scores[:9]) == list(range(1, 10))
    words = ("rank", "m.podium", "data.txt", "--rerank", "xquad", "--format", "jsonl", "--top", "1")
    best = [json.loads(line) for line in podium(*words).stdout.splitlines()]
    assert [int(line["document"].partition("d")[2]) for line in best] == [
        int(np.argmax(scores[9 * q : 9 * q + 9])) for q in range(8)
    ]
    kept = podium("rank", "m.podium", "data.txt", "--rerank", "mmr(depth=0)").stdout.split()
    plain = podium("rank", "m.podium", "data.txt").stdout.split()
    assert np.argsort([-float(s) for s in kept[:9]]).tolist() == np.argsort([-float(s) for s in plain[:9]]).tolist()


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("rank", "m.podium", "plain.txt", "--rerank", "xquad"), "plain.txt has none: write lines of query topic"),
        (("rank", "m.podium", "data.txt", "--rerank", "xqad"), "Did you mean 'xquad'?"),
        (("rank", "m.podium", "data.txt", "--rerank", "mmr", "--odds"), "Leave out --odds or --rerank."),
        (("rank", "m.podium", "data.txt", "--rerank", "mmr(trade=2)"), "trade"),
        (("train", "plain.txt", "--method", "ranknet", "--valid", "plain.txt", "--metric", "alpha-ndcg@5", "-o", "n"),
         "alpha-ndcg@5 reads topics"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_refused_in_words(podium: Podium, words: tuple[str, ...], line: str) -> None:
    result = podium(*words)
    assert result.exit_code != 0
    assert line in result.stderr


@pytest.mark.usefixtures("shop")
def test_a_model_is_tuned_by_a_metric_of_topics(podium: Podium) -> None:
    words = ("train", "data.txt", "--method", "ranknet", "--valid", "data.txt", "--metric", "alpha-ndcg@5", "-o", "n")
    result = podium(*words)
    assert result.exit_code == 0, result.stderr
    assert "alpha-ndcg@5" in result.stdout + result.stderr
