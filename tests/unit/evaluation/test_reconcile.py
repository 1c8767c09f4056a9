"""The terms of a reconciliation add up, each is what it says, and the command prints them."""

from __future__ import annotations

import io
import itertools
import json
import typing

import numpy as np
import pytest
from typer.testing import CliRunner

from podium.base.errors import DataError, IncompatibleError
from podium.data.dataset import Dataset
from podium.evaluation.reconcile import Reconciliation, reconcile, reconcile_run
from podium.evaluation.wording import WORDS, describe
from podium.formats.trec.trec import read_qrels, read_run
from podium.metrics import PRESETS, Convention, Metric, evaluate_all, mean

MEASURES = (
    "ndcg@3",
    "ndcg",
    "dcg@5",
    "map@3",
    "map",
    "p@3",
    "recall@2",
    "mrr",
    "err@4",
    "wta",
    "mean-ndcg",
    "rbp@3",
    "bpref",
    "gm-map@3",
    "iprec",
    "11pt-avg",
    "f",
    "num-rel",
)


def random_data(rng: np.random.Generator, *, grades: int = 3) -> tuple[Dataset, np.ndarray]:
    """A few queries with ties, short lists and queries without a relevant document."""
    sizes = rng.integers(1, 9, size=rng.integers(2, 7))
    n = int(sizes.sum())
    labels = rng.integers(0, grades, n) * np.repeat(rng.random(len(sizes)) < 0.7, sizes)
    labels[0] = 2  # one query counts, whatever the convention
    scores = rng.integers(0, 4, n) + 1e-9 * rng.integers(0, 2, n)  # some tied only in single precision
    ids = [f"d{i}" for i in rng.permutation(n)]
    return Dataset.from_arrays(np.zeros((n, 1)), labels, group=sizes, document_ids=ids), scores


def test_terms_and_shares_add_up_to_the_difference_in_many_random_cases() -> None:
    rng = np.random.default_rng(0)
    explained = 0
    for _ in range(300):
        data, scores = random_data(rng)
        measure = rng.choice(MEASURES)
        a, b = (Metric.parse(f"{measure}[{rng.choice(list(PRESETS))}]") for _ in range(2))
        found = reconcile(data, scores, a, b)
        numbers = [
            metric.average(row).value
            for metric, row in zip(
                (a, b),
                evaluate_all([a, b], scores, data.labels, data.offsets, document_ids=data.document_ids),
                strict=True,
            )
        ]
        assert [average.value for average in found.averages] == numbers
        assert sum(term.amount for term in found.terms) == pytest.approx(numbers[1] - numbers[0], rel=0, abs=1e-12)
        assert found.shares.sum() == pytest.approx(found.difference, rel=0, abs=1e-12)
        explained += abs(found.difference) > 1e-6
    assert explained > 120


def test_each_term_is_the_mean_over_all_orders_of_changing_the_fields() -> None:
    rng = np.random.default_rng(1)
    data, scores = random_data(rng)
    a, b = Metric.parse("ndcg@3[letor4,gain=exp2,ideal=judged]"), Metric.parse("ndcg@3")
    found = reconcile(data, scores, a, b)
    fields = [term.fields[0] for term in found.terms]
    expected = dict.fromkeys(fields, 0.0)
    orders = list(itertools.permutations(fields))
    for order in orders:
        now, before = a, mean(a(scores, data.labels, data.offsets)).value
        for name in order:
            value = getattr(b.convention, name)
            written = f"[{','.join(str(v) for v in value)}]" if isinstance(value, tuple) else value
            now = Metric.parse(f"{_with(now, name, written)}")
            after = mean(now(scores, data.labels, data.offsets)).value
            expected[name] += (after - before) / len(orders)
            before = after
    assert len(fields) >= 4
    assert {term.fields[0]: term.amount for term in found.terms} == pytest.approx(expected, abs=1e-12)


def test_swapping_the_sides_changes_only_signs() -> None:
    data, scores = random_data(np.random.default_rng(2))
    there = reconcile(data, scores, "ndcg@3[lightgbm]", "ndcg@3")
    back = reconcile(data, scores, "ndcg@3", "ndcg@3[lightgbm]")
    amounts = {term.fields: term.amount for term in there.terms}
    assert {term.fields: -term.amount for term in back.terms} == pytest.approx(amounts, abs=1e-12)
    for fields in amounts:
        one, other = (found.shares[[t.fields for t in found.terms].index(fields)] for found in (there, back))
        np.testing.assert_allclose(one, -other, atol=1e-12)


def test_one_field_alone_explains_all_and_the_right_queries_matter() -> None:
    data = Dataset.from_arrays(np.zeros((4, 1)), [1, 0, 0, 0], qid=["a", "a", "b", "b"])
    found = reconcile(data, [2, 1, 2, 1], "ndcg[empty=zero]", "ndcg[empty=one]")
    (term,) = found.terms
    assert (term.fields, term.amount, term.queries) == (("empty",), 1 / 2, 1)
    assert term.words == "queries with nothing to find count 0 in empty=zero, 1 in empty=one"
    assert [found.query_ids[q] for q in found.top_queries()] == ["b"]


def test_skipped_queries_are_what_moves_a_mean_that_leaves_them_out() -> None:
    data = Dataset.from_arrays(np.zeros((4, 1)), [1, 0, 0, 0], qid=["a", "a", "b", "b"])
    found = reconcile(data, [2, 1, 2, 1], "ndcg", "ndcg[empty=zero]")
    assert found.difference == 1 / 2 - 1
    assert found.averages[0].skipped == 1
    assert found.shares.sum() == pytest.approx(-1 / 2)
    assert found.query_ids[found.top_queries(1)[0]] == "b"


def test_the_same_convention_twice_has_no_terms() -> None:
    data, scores = random_data(np.random.default_rng(3))
    found = reconcile(data, scores, "map[trec]", "map[trec]")
    assert (found.terms, found.difference, found.top_queries()) == ((), 0.0, [])


def test_a_default_cutoff_is_a_term() -> None:
    rng = np.random.default_rng(4)
    data = Dataset.from_arrays(np.zeros((50, 1)), rng.integers(0, 2, 50))
    found = reconcile(data, rng.normal(size=50), "ndcg[xgboost]", "ndcg[lightgbm]")
    (term,) = [term for term in found.terms if term.queries]
    assert term.words == "the list is cut at 32 in xgboost, nowhere in lightgbm"
    assert term.amount == pytest.approx(found.difference, abs=1e-12)


def test_different_measures_are_refused() -> None:
    data, scores = random_data(np.random.default_rng(5))
    with pytest.raises(IncompatibleError, match="different measures"):
        reconcile(data, scores, "ndcg@10", "map")


def test_labels_that_a_side_refuses_are_refused_in_its_name() -> None:
    data = Dataset.from_arrays(np.zeros((2, 1)), [4, 0])
    with pytest.raises(DataError, match=r"^ndcg@10\[letor4\]: label 4 has no gain"):
        reconcile(data, [1, 2], "ndcg@10[lightgbm]", "ndcg@10[letor4]")


def test_no_query_that_counts_is_refused() -> None:
    data = Dataset.from_arrays(np.zeros((2, 1)), [0, 0])
    with pytest.raises(DataError, match="every query is skipped"):
        reconcile(data, [1, 2], "ndcg", "ndcg[trec,ties=mean]")


QRELS = b"q1 0 d1 1\nq1 0 d2 0\nq1 0 d9 3\nq2 0 d1 0\n"
RUN = b"q1 Q0 d1 1 2.0 t\nq1 Q0 d2 2 2.0 t\nq2 Q0 d1 1 1.0 t\n"


def test_a_run_counts_what_it_misses_for_the_ideal() -> None:
    found = reconcile_run(*_run(), "ndcg[trec]", "ndcg[lightgbm]")
    assert "ideal" in _moving(found)
    assert sum(term.amount for term in found.terms) == pytest.approx(found.difference, abs=1e-12)


def test_labels_that_one_gain_refuses_change_together_with_the_ideal_that_brings_them_in() -> None:
    found = reconcile_run(*_run(), "ndcg[letor3]", "ndcg[trec]")  # letor3 has no gain for label 3
    (joined,) = [term for term in found.terms if len(term.fields) > 1]
    assert {"gain", "ideal"} <= set(joined.fields)
    assert sum(term.amount for term in found.terms) == pytest.approx(found.difference, abs=1e-12)


def test_every_field_of_a_convention_and_every_value_of_it_has_words() -> None:
    values = {
        "gain": ["exp2", "linear", (0.0, 1.0, 3.0)],
        "relevant": [1.0, np.nextafter(0.5, 1.0)],
        "floor": [None, 0.0],
    }
    for name, hint in typing.get_type_hints(Convention).items():
        if name == "preset":
            continue
        subject, word = WORDS[name]
        assert subject
        for value in values.get(name, typing.get_args(hint)):
            assert "None" not in word(value)
            assert word(value)


@pytest.mark.parametrize("name", sorted(Metric.catalogue()))
def test_every_parameter_of_every_metric_has_words(name: str) -> None:
    metric = Metric.parse(name)
    for field in ("cutoff", *metric.own_parameters()):
        words = describe((field,), metric, metric, ("left", "right"))
        assert " in left, " in words
        assert words.endswith(" in right")
        assert "None" not in words


def test_a_parameter_of_a_metric_is_a_term_with_its_words() -> None:
    data, scores = random_data(np.random.default_rng(3))
    found = reconcile(data, scores, "rbp(p=0.5)", "rbp(p=0.9)")
    (term,) = found.terms
    assert (term.fields, term.amount) == (("p",), pytest.approx(found.difference, abs=1e-12))
    assert term.words == "the next document is looked at with probability 0.5 in a, 0.9 in b"


def test_every_field_of_every_preset_has_words() -> None:
    for measure, a, b in itertools.product(MEASURES, PRESETS, PRESETS):
        sides = [Metric.parse(measure, preset=preset) for preset in (a, b)]
        ours, theirs = (side.convention.fields() for side in sides)
        for name in (name for name in ours if ours[name] != theirs[name]):
            words = describe((name,), sides[0], sides[1], (a, b))
            assert words.endswith(f" in {b}")
            assert "None" not in words


def test_the_command_prints_both_numbers_the_terms_and_the_queries(tmp_path) -> None:
    from podium.cli.main import app

    (tmp_path / "data.txt").write_text("1 qid:a 1:0\n0 qid:a 1:0\n0 qid:b 1:0\n0 qid:b 1:0\n")
    (tmp_path / "scores.txt").write_text("1\n2\n1\n2\n")
    words = ["reconcile", str(tmp_path / "data.txt"), str(tmp_path / "scores.txt"), "--a", "lightgbm", "--b", "ranklib"]
    shown = CliRunner().invoke(app, words).stdout
    assert "ranklib − lightgbm = -0.500000" in shown
    assert "-0.500000        1  queries with nothing to find count 1 in lightgbm, 0 in ranklib" in shown
    found = json.loads(CliRunner().invoke(app, [*words, "--json"]).stdout)
    assert found["difference"] == pytest.approx(sum(term["amount"] for term in found["terms"]), abs=1e-12)
    assert [row["query"] for row in found["top_queries"]] == ["b"]


def test_the_command_takes_qrels_and_a_run(tmp_path) -> None:
    from podium.cli.main import app

    (tmp_path / "qrels").write_bytes(QRELS)
    (tmp_path / "run").write_bytes(RUN)
    words = ["reconcile", str(tmp_path / "qrels"), str(tmp_path / "run"), "--b", "trec", "-m", "ndcg"]
    result = CliRunner().invoke(app, words)
    assert "trec − podium" in result.stdout, result.output


def _run() -> tuple:
    return read_qrels(io.BytesIO(QRELS)), read_run(io.BytesIO(RUN))


def _moving(found: Reconciliation) -> set[str]:
    return {name for term in found.terms if term.queries for name in term.fields}


def _with(metric: Metric, name: str, value: str) -> str:
    """The metric's text with one field of its convention set."""
    fields = {**metric.convention.fields(), name: value}
    gain = fields["gain"]
    fields["gain"] = f"[{','.join(str(v) for v in gain)}]" if isinstance(gain, tuple) else gain
    inside = ",".join(f"{key}={value}" for key, value in fields.items())
    return f"{metric.name}@{metric.cutoff}[{inside}]"
