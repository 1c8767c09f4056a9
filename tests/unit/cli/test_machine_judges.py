"""Machine judges by command: ask, trust, evaluate with few human labels; samples of queries with weights."""

import csv
import json
import sys

import numpy as np
import pytest

from podium.clicks import write_clicks
from podium.clicks.log.click_log import ClickLog

JUDGE = """
import json, sys
for line in sys.stdin:
    row = json.loads(line)
    print(json.dumps({"id": row["id"], "grade": min(row["document"].split().count("good"), 2)}), flush=True)
"""


@pytest.fixture
def collection(tmp_path):
    """40 queries of 6 documents whose texts say how good they are; people graded 15 of the queries."""
    rng = np.random.default_rng(0)
    rows, texts, human, runs = [], [], [], {"new.run": [], "old.run": []}
    for q in range(40):
        for d in range(6):
            name, grade = f"q{q}d{d}", int(rng.integers(0, 3))
            seen = grade if rng.random() < 0.85 else int(rng.integers(0, 3))
            rows.append([f"q{q}", name, "judge", ""])
            texts.append({"id": name, "text": "good " * seen + "word " * int(rng.integers(3, 30))})
            if q < 15:
                human.append([f"q{q}", name, "ann", grade])
            for run, noise in (("new.run", 1.0), ("old.run", 4.0)):
                runs[run].append(f"q{q} Q0 {name} 1 {grade + rng.normal(0, noise)} {run}\n")
    for name, table in (("sheet.csv", rows), ("human.csv", human)):
        with open(tmp_path / name, "w", newline="") as file:
            csv.writer(file).writerows([["query", "document", "judge", "grade"], *table])
    (tmp_path / "docs.jsonl").write_text("".join(json.dumps(text) + "\n" for text in texts))
    (tmp_path / "judge.py").write_text(JUDGE)
    for name, lines in runs.items():
        (tmp_path / name).write_text("".join(lines))
    return tmp_path


def test_ask_trust_and_evaluate_one_after_another(podium, collection):
    words = ["judges", "ask", "sheet.csv", "--documents", "docs.jsonl", "--grades", "0,1,2", "-o", "machine.jsonl"]
    nobody = podium(*words)
    assert nobody.exit_code != 0
    assert "--command 'COMMAND' or --url URL" in nobody.stderr
    assert not (collection / "machine.jsonl").exists()
    command = ["--command", f"{sys.executable} judge.py", "--model", "toy"]
    asked = podium(*words, *command)
    assert asked.exit_code == 0, asked.stderr
    assert "240 answered now, 0 before, 0 without a grade" in asked.stderr
    assert "0 answered now, 240 before" in podium(*words, *command).stderr

    runs = ["--run", "new.run", "--run", "old.run"]
    seen = podium("judges", "trust", "human.csv", "machine.jsonl", *runs, "--documents", "docs.jsonl")
    assert seen.exit_code == 0, seen.stderr
    assert "Cohen's κ" in seen.stdout
    assert "τ of the order of runs: 1.0000" in seen.stdout
    assert json.loads(podium("judges", "trust", "human.csv", "machine.jsonl", "--json").stdout)["documents"] == 90

    powered = podium("evaluate", "human.csv", "new.run", "old.run", "--machine", "machine.jsonl", "-m", "ndcg@5")
    assert powered.exit_code == 0, powered.stderr
    assert "old.run − new.run" in powered.stdout
    assert "15 queries with human labels, 25 more with machine labels" in powered.stderr
    found = json.loads(
        podium("evaluate", "human.csv", "new.run", "--machine", "machine.jsonl", "-m", "ndcg@5", "--json").stdout
    )["means"]["ndcg@5"]["new.run"]
    assert found["error"] < found["human_error"]
    assert 0.0 < found["weight"] <= 1.0


def test_grades_of_two_prompts_are_not_mixed(podium, collection):
    text = (collection / "human.csv").read_text()
    (collection / "mixed.csv").write_text(text.replace("q1,q1d0,ann", "q1,q1d0,machine:a").replace("ann", "machine:b"))
    result = podium("evaluate", "human.csv", "new.run", "--machine", "mixed.csv")
    assert "has grades of 2 judges (machine:b, machine:a): keep one model, prompt and temperature" in result.stderr


def test_options_that_do_not_go_together_are_refused(podium, collection):
    result = podium("evaluate", "human.csv", "new.run", "--machine", "human.csv", "--by", "market")
    assert "do not go with --by" in result.stderr
    assert (
        "--url needs the name of the model"
        in podium("judges", "ask", "sheet.csv", "--url", "http://127.0.0.1:9/", "-o", "x.jsonl").stderr
    )
    assert "no texts of documents" in podium("judges", "ask", "sheet.csv", "--command", "cat", "-o", "x.jsonl").stderr


def test_a_sample_of_queries_has_weights_that_evaluate_uses(podium, collection):
    pages = [(f"q{k}", [f"q{k}d0", f"q{k}d1"], []) for k in range(15) for _ in range(40 // (k + 1))]
    write_clicks(ClickLog.from_pages(pages), str(collection / "log.jsonl"))
    result = podium("judges", "queries", "log.jsonl", "-n", "6", "-o", "sample.csv", "--seed", "1")
    assert result.exit_code == 0, result.stderr
    assert "6 of 15 queries" in result.stderr
    with open(collection / "sample.csv") as file:
        rows = list(csv.DictReader(file))
    assert sum(float(row["weight"]) for row in rows) == pytest.approx(1.0)
    kept = {row["query"] for row in rows}
    with open(collection / "human.csv") as file, open(collection / "few.csv", "w", newline="") as target:
        csv.writer(target).writerows(row for row in csv.reader(file) if row[0] in kept | {"query"})
    plain = json.loads(podium("evaluate", "few.csv", "new.run", "-m", "ndcg@5", "--per-query", "--json").stdout)
    shown = podium("evaluate", "few.csv", "new.run", "-m", "ndcg@5", "--weights", "sample.csv", "--json")
    expected = sum(float(row["weight"]) * plain["per_query"][row["query"]]["ndcg@5"] for row in rows)
    assert json.loads(shown.stdout)["new.run"]["ndcg@5"]["value"] == pytest.approx(expected)
    assert "weighted mean" in podium("evaluate", "few.csv", "new.run", "--weights", "sample.csv").stdout
    assert "has no weight" in podium("evaluate", "human.csv", "new.run", "--weights", "sample.csv").stderr


def test_a_part_of_the_sample_is_drawn_for_human_judges(podium, collection):
    pages = [(f"q{k}", [f"q{k}d0", f"q{k}d1"], []) for k in range(40) for _ in range(80 // (k + 1))]
    write_clicks(ClickLog.from_pages(pages), str(collection / "log.jsonl"))
    result = podium("judges", "queries", "log.jsonl", "-n", "30", "--human", "12", "-o", "sample.csv")
    assert result.exit_code == 0, result.stderr
    assert "30 of 40 queries" in result.stderr
    assert "12 of them for human judges" in result.stderr
    with open(collection / "sample.csv") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["query", "weight", "frequency", "chance", "human_weight", "human_chance"]
    people = {row["query"]: row for row in rows if row["human_weight"]}
    assert len(people) == 12
    assert sum(float(row["human_weight"]) for row in people.values()) == pytest.approx(1.0, abs=1e-9)
    assert all(float(row["human_chance"]) <= float(row["chance"]) for row in people.values())

    with open(collection / "few.csv", "w", newline="") as target:
        csv.writer(target).writerow(["query", "document", "judge", "grade"])
        csv.writer(target).writerows(
            [q, f"{q}d{d}", "ann", (d + k) % 3] for k, q in enumerate(people) for d in range(6)
        )
    with open(collection / "labels.csv", "w", newline="") as target:
        csv.writer(target).writerow(["query", "document", "judge", "grade"])
        names = [row["query"] for row in rows]
        csv.writer(target).writerows([q, f"{q}d{d}", "m", (d + k) % 3] for k, q in enumerate(names) for d in range(6))
    with open(collection / "all.run", "w") as target:
        for k, query in enumerate(names):
            for d in range(6):
                print(query, "Q0", f"{query}d{d}", d + 1, (d * 7 + k) % 11, "run", file=target)
    evaluated = podium(
        "evaluate", "few.csv", "all.run", "--machine", "labels.csv", "-m", "ndcg@5", "--weights", "sample.csv"
    )
    assert evaluated.exit_code == 0, evaluated.stderr
    assert "12 queries with human labels, 18 more with machine labels" in evaluated.stderr
    alone = json.loads(
        podium("evaluate", "few.csv", "all.run", "-m", "ndcg@5", "--weights", "sample.csv", "--json").stdout
    )["all.run"]["ndcg@5"]
    plain = json.loads(podium("evaluate", "few.csv", "all.run", "-m", "ndcg@5", "--per-query", "--json").stdout)
    expected = sum(float(row["human_weight"]) * plain["per_query"][q]["ndcg@5"] for q, row in people.items())
    assert alone["value"] == pytest.approx(expected)
    with_machine = json.loads(
        podium(
            "evaluate", "few.csv", "all.run", "--machine", "labels.csv", "-m", "ndcg@5", "--weights", "sample.csv",
            "--json",
        ).stdout
    )["means"]["ndcg@5"]["all.run"]  # fmt: skip
    assert with_machine["human"] == pytest.approx(expected)

    refused = podium("evaluate", "labels.csv", "all.run", "-m", "ndcg@5", "--weights", "sample.csv")
    assert "was not drawn for human judges" in refused.stderr
    top = podium("judges", "queries", "log.jsonl", "-n", "30", "--human", "12", "--how", "top")
    assert "top is no random sample" in top.stderr


def test_weights_of_which_few_dominate_bring_a_warning(podium, collection):
    with open(collection / "weights.csv", "w") as target:
        print("query,weight", *(f"q{k},{1000 if k < 2 else 1}" for k in range(40)), sep="\n", file=target)
    shown = podium("evaluate", "human.csv", "new.run", "-m", "ndcg@5", "--weights", "weights.csv")
    assert "warning: the weights are so unequal that 15 queries count as 2.0" in shown.stderr
    with open(collection / "labels.csv", "w") as target:
        rows = [f"q{q},q{q}d{d},m,{(q + d) % 3}" for q in range(40) for d in range(6)]
        print("query,document,judge,grade", *rows, sep="\n", file=target)
    machine = podium("evaluate", "human.csv", "new.run", "--machine", "labels.csv", "--weights", "weights.csv")
    assert "warning: the weights are so unequal that 15 queries count as 2.0" in machine.stderr
