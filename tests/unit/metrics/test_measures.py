"""What is special about each measure: worked examples, limits, refusals."""

from __future__ import annotations

import ast
import math
from graphlib import TopologicalSorter
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import kendalltau
from sklearn.metrics import ndcg_score, roc_auc_score

from podium.base.errors import DataError, ParameterError
from podium.data.triples import Triples
from podium.metrics import ERR, MAP, NDCG, Metric, kernels, mean


def ranked(name: str, labels: list[float]) -> float:
    """The metric of labels in rank order."""
    return float(Metric.parse(name)(-np.arange(len(labels)), labels, [0, len(labels)])[0])


def test_dcg_and_ndcg_of_the_worked_example() -> None:
    labels = [2, 3, 2, 3, 1, 1, 1]
    gains = [3, 3 + 7 / math.log2(3), 3 + 7 / math.log2(3) + 3 / 2]
    best = [7, 7 + 7 / math.log2(3), 7 + 7 / math.log2(3) + 3 / 2]
    assert [ranked(f"dcg@{k}", labels) for k in (1, 2, 3)] == pytest.approx(gains)
    assert [ranked(f"ndcg@{k}", labels) for k in (1, 2, 3)] == pytest.approx(np.divide(gains, best))
    assert [ranked(f"ndcg@{k}", labels) for k in (1, 2, 3)] == pytest.approx([0.43, 0.65, 0.69], abs=0.005)
    assert ranked("mean-ndcg", labels) == pytest.approx(np.mean([ranked(f"ndcg@{k}", labels) for k in range(1, 8)]))


def test_average_precision_of_the_worked_example() -> None:
    assert ranked("map", [1, 0, 1, 1, 0, 0, 0]) == pytest.approx((1 + 2 / 3 + 3 / 4) / 3)


def test_kendall_of_the_worked_example() -> None:
    assert ranked("kendall", [1, 3, 2]) == pytest.approx(-1 / 3)  # C, A, B where A, B, C is right


def test_err_of_three_documents() -> None:
    stops = [3 / 16, 15 / 16, 1 / 16]
    wanted = stops[0] + (1 - stops[0]) * stops[1] / 2 + (1 - stops[0]) * (1 - stops[1]) * stops[2] / 3
    assert ranked("err(max_grade=4)", [2, 4, 1]) == pytest.approx(wanted)
    assert ranked("err", [2, 4, 1]) == pytest.approx(wanted)
    assert ranked("err(max_grade=5)", [2, 4, 1]) < wanted


def test_the_largest_grade_is_that_of_all_queries_and_judgments() -> None:
    values = ERR()([2.0, 1.0], [1, 3], [0, 1, 2])
    assert values[0] == pytest.approx(1 / 8)
    assert ERR()([2.0], [1], [0, 1], judged=[1, 3], judged_offsets=[0, 2])[0] == pytest.approx(1 / 8)


@pytest.mark.parametrize("seed", range(5))
def test_kendall_equals_scipy_also_with_ties(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores, labels = rng.integers(0, 12, 60), rng.integers(0, 4, 60)
    found = Metric.parse("kendall")(scores, labels, [0, 60])[0]
    assert found == pytest.approx(kendalltau(scores, labels).statistic, abs=1e-12)


def test_kendall_of_a_constant_scorer_is_0() -> None:
    assert Metric.parse("kendall")([1, 1, 1], [0, 1, 2], [0, 3])[0] == 0.0


@pytest.mark.parametrize("seed", range(3))
def test_pair_accuracy_of_two_grades_is_the_area_under_the_curve(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores, labels = rng.integers(0, 12, 60), rng.integers(0, 2, 60)
    assert Metric.parse("pair-accuracy")(scores, labels, [0, 60])[0] == pytest.approx(roc_auc_score(labels, scores))


@pytest.mark.parametrize("k", [1, 5, None])
def test_sklearn_agrees_on_random_queries_with_ties(k: int | None) -> None:
    rng = np.random.default_rng(0)
    scores, labels = rng.integers(0, 6, (50, 20)), rng.integers(0, 4, (50, 20))
    ours = NDCG(k).with_preset("sklearn")(scores.ravel(), labels.ravel(), np.arange(0, 1001, 20))
    assert ours.mean() == pytest.approx(ndcg_score(labels, scores, k=k), abs=1e-12)


def test_err_of_a_large_tie_group_is_the_mean_over_random_orders() -> None:
    rng = np.random.default_rng(0)
    labels = rng.choice(4, size=300, p=[0.9, 0.06, 0.03, 0.01])
    tied = ERR()(np.zeros(300), labels, [0, 300])[0]
    orders = np.concatenate([rng.permutation(labels) for _ in range(4000)])
    drawn = ERR()(np.tile(-np.arange(300.0), 4000), orders, np.arange(0, 4000 * 300 + 1, 300))
    assert tied == pytest.approx(drawn.mean(), abs=4 * drawn.std() / math.sqrt(4000))


def test_real_valued_labels_have_gains_too() -> None:
    labels = [0.5, 1.5]
    gains = [2**0.5 - 1, 2**1.5 - 1]
    wanted = (gains[0] + gains[1] / math.log2(3)) / (gains[1] + gains[0] / math.log2(3))
    assert ranked("ndcg", labels) == pytest.approx(wanted)
    assert ranked("ndcg[gain=linear]", labels) == pytest.approx((0.5 + 1.5 / math.log2(3)) / (1.5 + 0.5 / math.log2(3)))
    assert ranked("p@1", labels) == 0.0
    assert ranked("p@1[relevant=0.5]", labels) == 1.0


def test_lists_longer_than_the_table_of_discounts() -> None:
    labels = np.zeros(3000)
    labels[2500] = 1
    assert ranked("dcg", labels.tolist()) == pytest.approx(1 / math.log2(2502))


@pytest.mark.parametrize("name", ["ndcg@3", "dcg", "mean-ndcg", "err"])
def test_labels_too_large_for_exponential_gain_are_refused(name: str) -> None:
    with pytest.raises(DataError, match=r"label is 51.*gain=linear"):
        ranked(name, [51, 0])
    assert ranked(name, [50, 0]) > 0


def test_linear_gain_takes_labels_of_any_size() -> None:
    assert ranked("ndcg[gain=linear]", [0, 1e6]) == pytest.approx(1 / math.log2(3))


@pytest.mark.parametrize("name", ["ndcg@3", "dcg", "mean-ndcg", "err", "ndcg[gain=linear]", "ndcg[letor3]"])
def test_negative_labels_have_no_gain_unless_a_floor_says_so(name: str) -> None:
    with pytest.raises(DataError, match=r"label is -1.*floor=0"):
        ranked(name, [-1, 1])
    floored = name.replace("]", ",floor=0]") if "[" in name else f"{name}[floor=0]"
    if "letor" not in name:
        assert ranked(floored, [-1, 1]) == pytest.approx(ranked(name, [0, 1]))


def test_negative_labels_are_simply_not_relevant() -> None:
    assert ranked("map", [-2, 1]) == 0.5
    assert ranked("pair-accuracy", [-2, 1]) == 0.0


@pytest.mark.parametrize("labels", [[3, 0], [0.5, 1]])
def test_a_label_without_an_entry_in_the_gain_table_is_refused(labels: list[float]) -> None:
    with pytest.raises(DataError, match=r"no gain in the table"):
        ranked("ndcg[letor3]", labels)


def test_a_grade_above_the_scale_is_refused() -> None:
    with pytest.raises(DataError, match=r"max_grade=2"):
        ranked("err(max_grade=2)", [3, 0])


@pytest.mark.parametrize("cutoff", [0, -1, 2.5, True])
def test_a_cutoff_must_be_a_positive_whole_number(cutoff: object) -> None:
    with pytest.raises(ParameterError, match="whole number"):
        MAP(cutoff)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("scores", "labels", "offsets", "message"),
    [
        ([1, 2], [1], [0, 2], "1 labels for 2 scores"),
        ([1, 2], [1, 0], [0, 1], "rise from 0 to 2"),
        ([1, 2], [1, 0], [0, 3, 2], "rise from 0 to 2"),
        ([1, 2], [1, 0], [], "rise from 0 to 2"),
        ([[1, 2]], [1, 0], [0, 2], "flat"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(
    scores: list[float], labels: list[float], offsets: list[int], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        NDCG()(scores, labels, offsets)


def test_judged_labels_need_their_offsets_for_as_many_queries() -> None:
    with pytest.raises(DataError, match="give both judged and judged_offsets"):
        NDCG()([1.0], [1], [0, 1], judged=[1])
    with pytest.raises(DataError, match="2 queries"):
        NDCG()([1.0], [1], [0, 1], judged=[1], judged_offsets=[0, 1, 1])


def test_no_queries_have_no_values() -> None:
    assert NDCG()([], [], [0]).shape == (0,)


def test_the_mean_leaves_skipped_queries_out_and_counts_them() -> None:
    assert mean([0.5, np.nan, 1.0]) == (0.75, 2, 1)
    nothing = mean([np.nan])
    assert math.isnan(nothing.value)
    assert (nothing.queries, nothing.skipped) == (0, 1)


def test_counts_are_reported_as_totals_and_gmap_as_a_geometric_mean() -> None:
    scores, labels, offsets = [3, 2, 1, 2, 1], [1, 0, 1, 0, 1], [0, 3, 5]
    found = {name: Metric.parse(name) for name in ("num_q", "num_ret", "num_rel", "num_rel_ret", "gm_map", "map")}
    totals = {name: metric.average(metric(scores, labels, offsets)).value for name, metric in found.items()}
    aps = ((1 + 2 / 3) / 2, 1 / 2)
    assert [totals[name] for name in ("num_q", "num_ret", "num_rel", "num_rel_ret")] == [2.0, 5.0, 3.0, 3.0]
    assert totals["gm_map"] == pytest.approx(math.sqrt(aps[0] * aps[1]))
    assert totals["map"] == pytest.approx(sum(aps) / 2)


def test_gmap_counts_a_failure_as_a_hundred_thousandth() -> None:
    gmap = Metric.parse("gm_map[empty=zero]")
    values = gmap([1.0, 1.0, 2.0], [1, 0, 0], [0, 1, 2, 3], judged=[1, 1, 0], judged_offsets=[0, 1, 2, 3])
    assert gmap.average(values).value == pytest.approx((1 * 1e-5 * 1e-5) ** (1 / 3))


def test_gmap_takes_the_logarithm_of_the_expected_ap_where_scores_tie() -> None:
    assert Metric.parse("gm_map")([1, 1], [1, 0], [0, 2])[0] == pytest.approx(math.log((1 + 1 / 2) / 2))


def test_interpolated_precision_looks_at_tied_documents_all_at_once() -> None:
    scores, labels = [3, 2, 2, 2, 1], [0, 1, 1, 0, 1]
    assert Metric.parse("iprec(recall=0.3)")(scores, labels, [0, 5])[0] == pytest.approx(max(2 / 4, 3 / 5))
    assert Metric.parse("iprec(recall=0.3)")([3, 2, 2, 2, 1], [0, 1, 1, 0, 0], [0, 5])[0] == pytest.approx(2 / 4)


def test_recall_levels_are_rounded_as_each_version_of_trec_eval_does() -> None:
    labels = [1, 0, 1, 0, 0, 1, 0, 0, 0, 1]  # 4 relevant: precisions 1, 2/3, 1/2, 2/5 at the first, second…
    for convention, wanted in (("iprec(recall=0.3)", 2 / 3), ("iprec(recall=0.3)[trec10,ties=mean]", 1.0)):
        assert ranked(convention, labels) == pytest.approx(wanted)
    assert ranked("iprec(recall=0.26,rounding=truncate)", labels) == 1.0  # ⌊1.04 + 0.9⌋ = 1
    assert ranked("iprec(recall=0.26)", labels) == pytest.approx(2 / 3)


def test_rbp_of_the_worked_example() -> None:
    assert ranked("rbp(p=0.5)", [1, 0, 1, 1]) == pytest.approx(0.5 * (1 + 0.5**2 + 0.5**3))


def test_unjudged_counts_what_has_no_label_or_a_negative_one() -> None:
    known = {"judged": [1, -1], "judged_offsets": [0, 2], "unjudged": [False, False, True]}
    values = Metric.parse("unjudged@2")([3, 2, 1], [1, -1, 0], [0, 3], **known)
    assert values[0] == 1 / 2
    assert Metric.parse("unjudged@10")([3, 2, 1], [1, -1, 0], [0, 3], **known)[0] == 2 / 10


def test_which_documents_are_unjudged_is_said_beside_what_is_judged() -> None:
    with pytest.raises(DataError, match="judged and judged_offsets"):
        Metric.parse("bpref")([1.0], [1], [0, 1], unjudged=[False])
    with pytest.raises(DataError, match="each of the 1 documents"):
        Metric.parse("bpref")([1.0], [1], [0, 1], judged=[1], judged_offsets=[0, 1], unjudged=[False, True])


def test_modules_of_metrics_import_each_other_in_one_direction() -> None:
    folder = Path(kernels.__file__).parent
    imports = {
        file.stem: {
            node.module.removeprefix("podium.metrics.")
            for node in ast.walk(ast.parse(file.read_text("utf-8")))
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("podium.metrics.")
        }
        for file in folder.glob("*.py")
        if file.stem != "__init__"
    }
    list(TopologicalSorter(imports).static_order())  # raises CycleError


def test_arguments_are_left_as_they_are() -> None:
    scores, labels, offsets = np.array([1.0, 1.0, 2.0]), np.array([1.0, 0.0, 2.0]), np.array([0, 3])
    copies = [a.copy() for a in (scores, labels, offsets)]
    for name in Metric.catalogue():
        topics = Triples.from_rows([[[0, 0, 1.0], [2, 1, 1.0]]])
        Metric.parse(f"{name}[ties=worst]")(scores, labels, offsets, topics=topics)
    for now, before in zip((scores, labels, offsets), copies, strict=True):
        np.testing.assert_array_equal(now, before)
