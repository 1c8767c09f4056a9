"""`podium rank --odds` and `podium calibration`."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from podium.evaluation.calibration import calibration
from podium.formats import read_letor, write_letor
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
    assert result.stderr == f"odds: {fitted.distribution(data).how}.\n"
    assert f"Plackett–Luce, temperature {fitted.info['temperature']:.4g} fitted on validation data" in result.stderr
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


def test_odds_with_ties_are_given_on_request(podium: Podium, folder: Path, model: Any) -> None:
    model("pmop-exact")
    test = str(folder / "test.txt")
    plain, tied = podium("rank", "m.podium", test, "--odds"), podium("rank", "m.podium", test, "--odds", "--with-ties")
    assert "Plackett–Luce, temperature" in plain.stderr
    assert tied.stderr.startswith("odds: pmop-exact's own distribution over rankings with ties, as trained; how many")
    assert plain.stderr.count("\n") == tied.stderr.count("\n") == 1
    assert plain.stdout != tied.stdout


def test_only_the_top_documents_are_shown_and_their_odds_are_those_among_all(
    podium: Podium, folder: Path, model: Any
) -> None:
    model("ranknet")
    test = str(folder / "test.txt")
    for words in (["--odds"], ["--odds", "--format", "jsonl"], ["--format", "jsonl"], ["--format", "trec"]):
        whole = podium("rank", "m.podium", test, *words).stdout
        few = podium("rank", "m.podium", test, *words, "--top", "3").stdout
        if words == ["--odds"]:
            kept = [line.split() for table in whole.split("\n\n") for line in table.strip().splitlines()[:5]]
            assert [line.split() for line in few.splitlines() if line] == kept
        else:
            assert len(few.splitlines()) == 3 * read_letor(test).n_queries
            assert set(few.splitlines()) < set(whole.splitlines())


def test_equal_scores_share_a_dense_rank(podium: Podium, folder: Path) -> None:
    data = read_letor(str(folder / "train.txt"))
    tied = replace(data, features=np.repeat(data.features[::2], 2, axis=0)[: data.n_documents])
    write_letor(tied, "tied.txt")
    assert podium("train", "tied.txt", "--method", "regression", "-o", "m.podium").exit_code == 0
    lines = podium("rank", "m.podium", "tied.txt", "--format", "jsonl").stdout.splitlines()
    found = {(one["query"], one["document"]): one["rank"] for one in map(json.loads, lines)}
    model, again = Model.load("m.podium"), read_letor("tied.txt")
    ranks = model.rank(again)
    assert len(set(ranks[: again.offsets[1]])) < again.offsets[1]
    for q in range(again.n_queries):
        a, b = again.offsets[q : q + 2]
        assert ranks[a:b].tolist() == [
            1 + len({s for s in model.score(again)[a:b] if s > mine}) for mine in model.score(again)[a:b]
        ]
        assert [found[again.query_name(q), again.document_name(row)] for row in range(a, b)] == ranks[a:b].tolist()


def test_features_that_a_file_does_not_mention_count_as_0_and_are_said_to(
    podium: Podium, folder: Path, model: Any
) -> None:
    fitted = model("ranknet")
    data = read_letor(str(folder / "test.txt"))
    write_letor(replace(data, features=data.features[:, :3]), "narrow.txt")
    result = podium("rank", "m.podium", "narrow.txt")
    assert result.exit_code == 0
    assert result.stderr == (
        f"narrow.txt: only features up to 3 occur; the model was trained with {data.n_features}. "
        "The others count as 0.\n"
    )
    zeroed = np.where(np.arange(data.n_features) < 3, data.features, 0)
    expected = fitted.score(replace(data, features=zeroed.astype(np.float32)))
    assert [float(line) for line in result.stdout.splitlines()] == expected.tolist()
    assert "only features up to 3 occur" in podium("calibration", "m.podium", "narrow.txt").stderr


def test_more_features_than_the_model_has_are_an_error(podium: Podium, folder: Path, model: Any) -> None:
    fitted = model("ranknet")
    data = read_letor(str(folder / "test.txt"))
    write_letor(replace(data, features=np.column_stack([data.features, data.features[:, :1] + 1])), "wide.txt")
    result = podium("rank", "m.podium", "wide.txt")
    assert (result.exit_code, result.stdout) == (1, "")
    assert f"{data.n_features + 1} features, but the model was trained with {fitted.n_features}" in result.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--odds", "--format", "trec"], "A TREC run has no place for odds. Use --format jsonl"),
        (["--odds", "--format", "scores"], "A list of scores has no place for odds"),
        (["--with-ties"], "--with-ties says which odds, so it needs --odds"),
        (["--top", "3"], "--top: a list of scores has one line per document"),
        (["--top", "3", "--format", "scores"], "--top: a list of scores has one line per document"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_read(podium: Podium, words: list[str], message: str) -> None:
    result = podium("rank", "none.podium", "none.txt", *words)
    assert result.exit_code == 2
    assert message in result.stderr


def test_a_model_without_a_temperature_says_what_to_do(podium: Podium, folder: Path) -> None:
    podium("train", str(folder / "train.txt"), "--method", "ranknet", "--valid", "none", "-o", "m.podium")
    result = podium("rank", "m.podium", str(folder / "test.txt"), "--odds")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "Train it with some: podium train DATA --valid 0.2" in result.stderr


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


def test_calibration_takes_odds_with_ties(podium: Podium, folder: Path, model: Any) -> None:
    model("pmop-fd")
    plain, tied = (podium("calibration", "m.podium", str(folder / "test.txt"), *more) for more in ([], ["--with-ties"]))
    assert "Plackett–Luce" in plain.stderr
    assert "pmop-fd's own distribution" in tied.stderr
    assert plain.stdout != tied.stdout


def test_bars_end_at_what_happened_and_mark_what_was_predicted() -> None:
    from podium.cli.calibration import _bar

    assert _bar(0.5, 1.0) == "■" * 15 + " " * 15 + "│"
    assert _bar(1.0, 0.0) == "│" + "■" * 29 + " "
