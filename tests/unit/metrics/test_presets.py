"""Presets: our numbers are the tools' numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from golden import metrics as golden
from podium.base.errors import DataError, UnknownNameError
from podium.metrics import NDCG, PRESETS, Convention, Metric, mean

CASES = [
    pytest.param(preset, spelling, value, within, id=f"{tool}: {spelling}")
    for (tool, preset, within), numbers in golden.VALUES.items()
    for spelling, value in numbers.items()
]


@pytest.mark.parametrize(("preset", "spelling", "value", "within"), CASES)
def test_a_preset_gives_the_number_of_its_tool(preset: str, spelling: str, value: float, within: float) -> None:
    metric = Metric.parse(spelling, preset=preset)
    values = metric(golden.SCORES, golden.LABELS, golden.OFFSETS, document_ids=golden.DOCUMENT_IDS)
    found = mean(values)
    assert found == (pytest.approx(value, abs=within), 4, 0)


def test_every_preset_has_a_golden_number_or_is_tested_below() -> None:
    assert {preset for _, preset, _ in golden.VALUES} | {"letor3", "ndeval"} == set(PRESETS)


def test_ndeval_breaks_ties_by_id_and_counts_queries_with_nothing_to_find_as_0() -> None:
    metric = Metric.parse("p@1", preset="ndeval")
    values = metric([1.0, 1.0, 1.0], [0, 1, 0], [0, 2, 3], document_ids=["a", "b", "c"])
    np.testing.assert_array_equal(values, [1.0, 0.0])


def test_letor3_counts_a_list_shorter_than_k_as_0() -> None:
    scores, labels, offsets = [3.0, 2.0, 1.0, 2.0, 1.0], [0, 2, 1, 1, 0], [0, 3, 5]
    discounted = (3 / 1 + 1 / math.log2(3)) / (3 + 1 + 0)
    ndcg, p = Metric.parse("NDCG@3", preset="letor3"), Metric.parse("P@3", preset="letor3")
    np.testing.assert_allclose(ndcg(scores, labels, offsets), [discounted, 0.0])
    np.testing.assert_allclose(p(scores, labels, offsets), [2 / 3, 0.0])
    assert Metric.parse("P@3", preset="letor4")(scores, labels, offsets)[1] == 1 / 3
    assert Metric.parse("MAP", preset="letor3")(scores, labels, offsets)[1] == 1.0


def test_letor_discounts_from_the_third_rank_on() -> None:
    metric = Metric.parse("dcg[letor4]")
    assert metric([4, 3, 2, 1], [1, 1, 1, 1], [0, 4])[0] == pytest.approx(1 + 1 + 1 / math.log2(3) + 1 / math.log2(4))


def test_map_cut_divides_by_all_relevant_documents_and_map_at_k_by_at_most_k() -> None:
    scores, labels, offsets = [3, 2, 1], [1, 1, 1], [0, 3]
    assert Metric.parse("ap@2")(scores, labels, offsets)[0] == 1.0
    assert Metric.parse("map_cut_2")(scores, labels, offsets)[0] == pytest.approx(2 / 3)
    assert Metric.parse("map@2", preset="trec") == Metric.parse("map_cut.2", preset="trec")


def test_trec_compares_scores_in_single_precision_and_ties_by_descending_id() -> None:
    close = [1.0 + 1e-12, 1.0]
    assert Metric.parse("wta", preset="trec")(close, [1, 0], [0, 2], document_ids=["a", "b"])[0] == 0.0
    assert Metric.parse("success@1[ties=docno]")(close, [1, 0], [0, 2], document_ids=["a", "b"])[0] == 1.0
    ids = ["d9", "d10", "é", "z", "d1"]  # as text: é > z > d9 > d10 > d1
    metric = Metric.parse("mrr", preset="trec")
    ranks = [1 / metric(np.zeros(5), np.eye(5)[i], [0, 5], document_ids=ids)[0] for i in range(5)]
    np.testing.assert_allclose(ranks, [3, 4, 1, 2, 5])


def test_trec10_is_trec_in_double_precision() -> None:
    close = [1.0 + 1e-12, 1.0]
    for name in ("wta", "map", "ndcg@5"):
        nine, ten = (Metric.parse(name, preset=preset) for preset in ("trec", "trec10"))
        assert nine.convention.changes() == {**ten.convention.changes(), "scores": "float32"}
        assert nine(close, [1, 0], [0, 2], document_ids=["a", "b"])[0] < 1.0
        assert ten(close, [1, 0], [0, 2], document_ids=["a", "b"])[0] == 1.0


def test_every_preset_is_named_where_the_command_line_lists_them() -> None:
    from podium.cli.options import Preset

    (option,) = Preset.__metadata__
    assert all(preset in option.help for preset in PRESETS)


def test_a_preset_sets_parameters_that_the_text_does_not() -> None:
    assert Metric.parse("rbp", preset="trec10").p == 0.9
    assert Metric.parse("rbp(p=0.7)", preset="trec10").p == 0.7
    assert repr(Metric.parse("rbp(p=0.8)[trec10]")) == "rbp(p=0.8)[trec10]"
    assert Metric.parse("err[ranklib]").max_grade == 4


def test_ties_by_id_stay_within_their_query() -> None:
    scores, offsets = [2.0, 1.0, 1.0, 0.5, 0.5, 0.5], [0, 3, 6]
    values = Metric.parse("mrr[ties=docno]")(
        scores, [0, 0, 1, 1, 0, 0], offsets, document_ids=["x", "b", "a", "a", "b", "c"]
    )
    np.testing.assert_allclose(values, [1 / 3, 1 / 3])


def test_ties_by_id_need_ids() -> None:
    with pytest.raises(DataError, match=r"ties=docno .* there are none\. Give document_ids, or choose ties=mean"):
        Metric.parse("ndcg[trec]")([1.0, 1.0], [0, 1], [0, 2])


@pytest.mark.parametrize(("ties", "rank"), [("input", 2), ("worst", 3), ("best", 1)])
def test_ties_in_one_order_put_the_relevant_document_there(ties: str, rank: int) -> None:
    metric = Metric.parse(f"mrr[ties={ties}]")
    assert metric([1.0, 1.0, 1.0, 2.0], [0, 1, 0, 0], [0, 3, 4])[0] == pytest.approx(1 / rank)


def test_xgboost_cuts_at_32_and_ranklib_at_10_where_no_k_is_given() -> None:
    assert repr(Metric.parse("ndcg-", preset="xgboost")) == "ndcg@32[ties=input,empty=zero,ideal=list,scores=float32]"
    assert Metric.parse("map", preset="xgboost").cutoff == 32
    assert Metric.parse("NDCG", preset="ranklib").cutoff == 10
    assert Metric.parse("MAP@10", preset="ranklib").cutoff is None


def test_the_text_comes_before_the_preset() -> None:
    metric = Metric.parse("ndcg@5[ties=mean]", preset="letor4")
    assert (metric.convention.ties, metric.convention.discount) == ("mean", "letor")
    assert Metric.parse("ndcg@5[mslr]", preset="letor4") == Metric.parse("ndcg@5[mslr]")


def test_a_preset_is_printed_by_the_name_it_was_asked_for() -> None:
    assert repr(Metric.parse("ndcg@10[letor4]")) == "ndcg@10[letor4]"
    assert Metric.parse("ndcg@10[letor4]") == Metric.parse("ndcg@10[letor3]")


def test_with_preset_replaces_the_convention() -> None:
    assert NDCG(10, Convention(gain="linear")).with_preset("letor3") == Metric.parse("ndcg@10[letor3]")
    with pytest.raises(UnknownNameError, match="letor3"):
        NDCG(10).with_preset("letor33")


def test_ideal_list_ignores_judged_documents_that_the_list_misses() -> None:
    more = {"judged": [1, 1], "judged_offsets": [0, 2]}
    assert Metric.parse("recall")([1.0], [1], [0, 1], **more)[0] == 0.5
    assert Metric.parse("recall[ideal=list]")([1.0], [1], [0, 1], **more)[0] == 1.0


def test_trec_and_pytrec_eval_agree_on_random_runs() -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    rng = np.random.default_rng(0)
    names = ["ndcg_cut_5", "ndcg", "map", "map_cut_5", "P_5", "recall_5", "recip_rank", "success_1"]
    qrels, run, rows = {}, {}, []
    for q in range(30):
        n, m = rng.integers(1, 25), rng.integers(0, 6)
        labels = rng.integers(-1, 4, n + m)
        scores = rng.integers(0, 8, n) / 3
        ids = [f"d{i}" for i in rng.permutation(n + m)]
        qrels[f"q{q}"] = {name: int(y) for name, y in zip(ids, labels, strict=True)}
        run[f"q{q}"] = {name: float(s) for name, s in zip(ids, scores, strict=False)}
        rows.append((scores, labels[:n], ids[:n], labels))
    measures = {name.replace("_5", ".5").replace("_1", ".1") for name in names}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run)
    scores, labels, ids, judged = (np.concatenate(column) for column in zip(*rows, strict=True))
    offsets, judged_offsets = (np.r_[0, np.cumsum([len(row[c]) for row in rows])] for c in (0, 3))
    for name in names:
        ours = Metric.parse(name, preset="trec")(
            scores, labels, offsets, document_ids=ids, judged=judged, judged_offsets=judged_offsets
        )
        np.testing.assert_allclose(ours, [theirs[f"q{q}"][name] for q in range(30)], atol=1e-9, err_msg=name)
