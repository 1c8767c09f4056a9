"""`podium rank --odds` and `podium calibration`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from podium.data import read_letor
from podium.evaluation import calibration
from podium.model import Model

Podium = Callable[..., Any]


@pytest.fixture
def model(podium: Podium, folder: Path) -> Callable[[str], Model]:
    def make(method: str) -> Model:
        assert podium("train", str(folder), "--method", method, "-o", "m.podium").exit_code == 0
        return Model.load("m.podium")

    return make


def test_a_table_gives_the_odds_of_each_document_beside_the_order(podium: Podium, folder: Path, model: Any) -> None:
    fitted, test = model("ranknet"), str(folder / "test.txt")
    data = read_letor(test)
    result = podium("rank", "m.podium", test, "--odds")
    assert result.exit_code == 0, result.stderr
    assert result.stderr == (
        f"odds: Plackett–Luce, temperature {fitted.info['temperature']:.4g} fitted on validation data: "
        "ranknet is not the likelihood of a ranking.\n"
    )
    tables = result.stdout.split("\n\n")
    assert len(tables) == data.n_queries
    title, heads, *rows = tables[0].splitlines()
    assert title == f"query {data.query_name(0)}"
    assert heads.split() == ["rank", "document", "score", "first", "expected", "rank", "90", "%", "interval"]
    query, scores = fitted.distribution(data)[0], fitted.score(data)
    best = int(query.scores.argmax())
    low, high = query.interval()[best]
    assert rows[0].split() == [
        "1", data.document_name(best), f"{scores[best]:.4f}", f"{query.first[best]:.4f}",
        f"{query.expected_rank[best]:.1f}", f"{low}–{high}",
    ]  # fmt: skip
    assert [row.split()[0] for row in rows] == [str(k + 1) for k in range(len(query.scores))]


def test_objects_have_the_odds_as_keys(podium: Podium, folder: Path, model: Any) -> None:
    fitted, test = model("listnet"), str(folder / "test.txt")
    plain = podium("rank", "m.podium", test, "--format", "jsonl").stdout.splitlines()
    result = podium("rank", "m.podium", test, "--format", "jsonl", "--odds", "-o", "out.jsonl")
    assert result.stdout == ""
    data, whole = read_letor(test), fitted.distribution(read_letor(test)).summary()
    row = {data.document_name(k): k for k in range(data.n_documents)}
    for before, line in zip(plain, Path("out.jsonl").read_text().splitlines(), strict=True):
        found = json.loads(line)
        k = row[found["document"]]
        assert found == json.loads(before) | {
            "first": whole.first[k],
            "expected_rank": whole.expected[k],
            "interval": [whole.low[k], whole.high[k]],
        }


def test_a_law_with_ties_is_explained_and_strict_odds_are_offered(podium: Podium, folder: Path, model: Any) -> None:
    model("pmop-exact")
    test = str(folder / "test.txt")
    own, strict = podium("rank", "m.podium", test, "--odds"), podium("rank", "m.podium", test, "--odds", "--strict")
    assert "how many documents tie is a property of this law, whatever the scores, and no prediction" in own.stderr
    assert "Tied documents share a rank, also the first; --strict gives odds without ties." in own.stderr
    assert own.stderr.count("\n") == strict.stderr.count("\n") == 1
    assert strict.stderr.startswith("odds: Plackett–Luce, temperature")
    assert strict.stdout != own.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--odds", "--format", "trec"], "A TREC run has no place for odds. Use --format jsonl"),
        (["--odds", "--format", "scores"], "A list of scores has no place for odds"),
        (["--strict"], "--strict says which odds, so it needs --odds"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_read(podium: Podium, words: list[str], message: str) -> None:
    result = podium("rank", "none.podium", "none.txt", *words)
    assert result.exit_code == 2
    assert message in result.stderr


def test_a_model_without_a_temperature_says_what_to_do(podium: Podium, folder: Path) -> None:
    podium("train", str(folder / "train.txt"), "--method", "ranknet", "-o", "m.podium")
    result = podium("rank", "m.podium", str(folder / "test.txt"), "--odds")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "Train it with some: podium train DATA --valid MORE" in result.stderr


def test_calibration_prints_what_the_library_measures(podium: Podium, folder: Path, model: Any) -> None:
    fitted, test = model("ranknet"), str(folder / "test.txt")
    data = read_letor(test)
    found = calibration(fitted.distribution(data), data)
    assert json.loads(podium("calibration", "m.podium", test, "--json").stdout) == json.loads(
        json.dumps(found.to_dict())
    )
    result = podium("calibration", "m.podium", test)
    assert result.stderr == f"odds: {found.how}\n"
    rows = result.stdout.split("\n\n")[0].splitlines()
    assert len(rows) == 1 + len(found.bins)
    one = found.bins[-1]
    assert f"{one.documents}" in rows[-1]
    assert f"{one.predicted:.4f}" in rows[-1]
    assert f"{one.observed:.4f}" in rows[-1]
    assert f"log loss           {found.log_loss:.4f}, even chances {found.log_loss_even:.4f}" in result.stdout
    assert f"90 % intervals     hold {100 * found.coverage:.1f} % of ranks" in result.stdout


def test_calibration_takes_strict_odds_where_a_law_has_ties(podium: Podium, folder: Path, model: Any) -> None:
    model("pmop-fd")
    own, strict = (podium("calibration", "m.podium", str(folder / "test.txt"), *more) for more in ([], ["--strict"]))
    assert "pmop-fd's own law" in own.stderr
    assert "pmop-fd is a law of rankings with ties" in strict.stderr
    assert own.stdout != strict.stdout


def test_bars_end_at_what_happened_and_mark_what_was_predicted() -> None:
    from podium.cli.calibration import _bar

    assert _bar(0.5, 1.0) == "■" * 15 + " " * 15 + "│"
    assert _bar(1.0, 0.0) == "│" + "■" * 29 + " "
