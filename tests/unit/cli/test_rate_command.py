"""`podium rate`: a table, pairs to ask next, a report, and JSON."""

import csv
import json

import numpy as np
import pytest


@pytest.fixture
def battles(tmp_path):
    rng = np.random.default_rng(8)
    with open(tmp_path / "battles.csv", "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["model_a", "model_b", "winner", "judge", "task"])
        for k in range(80):
            i, j = rng.choice(4, 2, replace=False)
            winner = rng.choice(["model_a", "model_b", "tie"], p=[0.7, 0.1, 0.2] if i < j else [0.1, 0.7, 0.2])
            rows.writerow([f"p{i}", f"<p>{j}" if j == 3 else f"p{j}", winner, f"j{k % 3}", ("chat", "code")[k % 2]])


def test_it_prints_a_table_for_each_group_and_over_all(podium, battles):
    result = podium("rate", "battles.csv")
    assert result.exit_code == 0, result.stderr
    assert "chat: 40 battles" in result.stdout
    assert "all: 80 battles" in result.stdout
    assert "davidson, ν = " in result.stderr
    assert "a = model_a, b = model_b, winner = winner, judge = judge, group = task" in result.stderr


def test_it_writes_the_pairs_to_ask_next_and_a_report(podium, battles, tmp_path):
    result = podium("rate", "battles.csv", "--next", "5", "-o", "pairs.csv", "--report", "page.html")
    assert result.exit_code == 0, result.stderr
    rows = list(csv.reader((tmp_path / "pairs.csv").read_text().splitlines()))
    assert rows[0] == ["a", "b", "gain", "expected"]
    assert len(rows) == 6
    page = (tmp_path / "page.html").read_text()
    for heading in ("Strengths and ranks", "Expected and seen results", "Pairs that fit worst", "Judges", "code: 40"):
        assert heading in page
    assert "<p>3" not in page  # names are escaped


def test_json_holds_everything(podium, battles):
    result = podium("rate", "battles.csv", "--scale", "elo", "--next", "2", "--json")
    found = json.loads(result.stdout)
    assert (found["scale"], found["method"], len(found["next"])) == ("elo", "davidson", 2)
    assert found["players"][0]["rank"] == 1
    assert set(found["groups"]) == {"chat", "code"}
    assert len(found["judges"]) == 3


def test_columns_can_be_named(podium, tmp_path):
    (tmp_path / "games.csv").write_text("one,two,who\nx,y,x\ny,x,x\nx,y,y\n")
    assert "no column 'a'" in podium("rate", "games.csv").stderr
    result = podium("rate", "games.csv", "--a", "one", "--b", "two", "--winner", "who", "-o", "-")
    assert result.stdout.splitlines()[1].startswith("1,x,")
