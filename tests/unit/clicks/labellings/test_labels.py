"""Labels from clicks: each way on hand-made pages, and against enumeration."""

from dataclasses import replace

import numpy as np
import pytest

from podium.base.errors import DataError, ParameterError, UnknownNameError
from podium.clicks import ClickLog, ClickModel, Labelling, label_pairs, labels
from podium.clicks.labellings.base import cut
from podium.clicks.labellings.graph_cut import cut_order
from podium.data import Dataset
from reference.click_rules import agreement, best_agreement, best_cut

NAN = np.nan
PAGES = [("q", ["a", "b"], [1]), ("q", ["b", "a"], [2]), ("q", ["a", "b"], []), ("r", ["c"], [])]


def of(log, how, **more):
    found = label_pairs(log, how, **more)
    return dict(zip(log.document_ids.tolist(), found.values.tolist(), strict=True))


def same(found, expected):
    assert found.keys() == expected.keys()
    assert list(found.values()) == pytest.approx([expected[key] for key in found], nan_ok=True, rel=1e-12)


def test_click_through_rates_have_pseudo_counts():
    log = ClickLog.from_pages(PAGES)
    same(of(log, "ctr"), {"a": (2 + 1) / (3 + 2), "b": (0 + 1) / (3 + 2), "c": (0 + 1) / (1 + 2)})
    same(of(log, "ctr(prior=0)"), {"a": 2 / 3, "b": 0.0, "c": 0.0})


def test_clicks_over_expected_clicks():
    log = ClickLog.from_pages(PAGES)
    first, second = 1 / 4, 1 / 3  # click rates of ranks 1 and 2
    same(of(log, "coec"), {"a": 2 / (2 * first + second), "b": 0.0, "c": 0.0})
    same(of(log, "coec(preset=opensearch)"), {"a": round(2 / (3 * first), 3), "b": 0.0, "c": 0.0})


def test_nothing_expected_is_no_label_and_zero_for_opensearch():
    log = ClickLog.from_pages([("q", ["a", "b"], [1])])
    same(of(log, "coec"), {"a": 1.0, "b": NAN})
    same(of(log, "coec(preset=opensearch)"), {"a": 1.0, "b": 0.0})


def issued(times, clicks):
    """A query issued so often; its one document a was clicked on some of these pages, b on none."""
    return [("q", ["a", "b"], [1] if k < clicks else []) for k in range(times)]


@pytest.mark.parametrize(
    ("clicks", "grade"), [(1, 0.0), (6, 0.5), (5, 0.0), (12, 1.0), (35, 2.5), (36, 3.0), (41, 3.0), (42, 3.0)]
)
def test_click_rates_fall_into_seven_parts_closed_below(clicks, grade):
    same(of(ClickLog.from_pages(issued(42, clicks)), "click-rate-grades"), {"a": grade, "b": NAN})


def test_grades_are_for_queries_issued_more_than_thirty_times():
    assert np.isnan(of(ClickLog.from_pages(issued(30, 30)), "click-rate-grades")["a"])
    assert of(ClickLog.from_pages(issued(31, 31)), "click-rate-grades")["a"] == 3.0
    counted = replace(ClickLog.from_pages([("q", ["a"], [1])]), counts=np.array([31.0]))
    assert of(counted, "click-rate-grades")["a"] == 3.0
    rare = ClickLog.from_pages([("q", ["a"], [1]), ("q", ["b"], [])])
    assert of(rare, "click-rate-grades(issued=0)")["a"] == 0.5 * 3  # clicked on one of two issues: 7 · ½ = 3.5
    assert of(rare, "click-rate-grades(issued=0, per=impressions)")["a"] == 3.0


def test_the_relevance_of_a_click_model_is_a_label():
    log = ClickLog.from_pages(PAGES)
    fitted = ClickModel.parse("pbm(prior=2)").fit(log)
    same(of(log, "pbm(prior=2)"), dict(zip(log.document_ids, fitted.relevance(), strict=True)))


def test_numbers_are_cut_into_parts_or_quantiles():
    values = np.array([0.0, 0.19, 0.2, 0.99, 1.0, NAN])
    assert cut(values, 5).tolist()[:5] == [0, 0, 1, 4, 4]
    assert np.isnan(cut(values, 5)[5])
    assert np.isnan(cut(values, "quantiles")[5])
    assert cut(np.arange(10.0), "quantiles").tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    assert cut(np.array([0.0] * 8 + [1, 2]), "quantiles").tolist() == [0] * 8 + [4, 4]
    assert cut(np.full(3, 0.7), "quantiles").tolist() == [0, 0, 0]
    assert np.isnan(cut(np.full(2, NAN), "quantiles")).all()


def test_pairs_shown_too_rarely_get_no_label():
    log = ClickLog.from_pages(PAGES)
    same(of(log, "ctr", least=2), {"a": 0.6, "b": 0.2, "c": NAN})
    part = log.select(np.arange(3))  # keeps the pair (r, c), which is on no page
    assert np.isnan(label_pairs(part, "ctr", least=0).values[2])


def dataset():
    return Dataset.from_arrays(
        np.arange(5.0)[:, None], [9, 9, 9, 9, 9], qid=["q", "r", "q", "s", "q"], document_ids=["b", "c", "x", "a", "a"]
    )


def test_labels_join_data_by_ids_and_leave_out_what_has_none():
    data = labels(ClickLog.from_pages(PAGES), dataset(), how="ctr")
    assert data.query_ids.tolist() == ["q", "r"]
    assert data.document_ids.tolist() == ["b", "a", "c"]
    assert data.labels == pytest.approx([0.2, 0.6, 1 / 3])
    assert data.features[:, 0].tolist() == [0, 4, 1]


def test_labels_of_other_documents_are_refused():
    log = ClickLog.from_pages([("z", ["a"], [1])])
    with pytest.raises(DataError, match="Are query and document ids the same"):
        labels(log, dataset(), how="ctr")


def test_data_without_ids_goes_by_the_numbers_of_its_rows():
    data = Dataset.from_arrays(np.eye(3), [0, 1, 0], qid=["q", "r", "q"])
    log = ClickLog.from_pages([("q", ["0", "2"], [2]), ("r", ["1"], [])])
    found = labels(log, data, how="ctr(prior=0)")
    assert found.features.argmax(axis=1).tolist() == [0, 2, 1]
    assert found.labels.tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("how", "grades", "words"),
    [
        ("coec", 5, "use grades=quantiles"),
        ("graph", 5, "makes grades already"),
        ("click-rate-grades", "quantiles", "makes grades already"),
        ("ctr", 1, "at least 2"),
        ("graph(rule=query-chains)", None, "rule must be one of click-above"),
    ],
)
def test_what_does_not_go_together_is_refused(how, grades, words):
    with pytest.raises(ParameterError, match=words):
        label_pairs(ClickLog.from_pages(PAGES), how, grades=grades)


def test_an_unknown_way_suggests_a_known_one():
    with pytest.raises(UnknownNameError, match="Did you mean 'coec'"):
        label_pairs(ClickLog.from_pages(PAGES), "coek")


@pytest.mark.parametrize(
    "text", ["ctr(prior=0.5)", "coec(preset=opensearch)", "click-rate-grades(issued=5.0)", "graph"]
)
def test_the_text_of_a_labelling_names_it(text):
    assert repr(Labelling.parse(text)) == text


def weights_of(log, winners="click-above"):
    from podium.clicks.page_rules import page_events

    found = {}
    for winner, loser, weight in zip(*page_events(log, winners), strict=True):
        found[winner, loser] = found.get((winner, loser), 0) + weight
    return found


def random_log(seed, n=5, pages=12):
    rng = np.random.default_rng(seed)
    names = [f"d{k}" for k in range(n)]
    return ClickLog.from_pages(
        ("q", rng.permutation(names).tolist(), np.flatnonzero(rng.random(n) < 0.4) + 1) for _ in range(pages)
    )


@pytest.mark.parametrize("seed", range(6))
def test_two_labels_of_a_graph_are_the_best_of_all(seed):
    log = random_log(seed)
    weights, found = weights_of(log), label_pairs(log, "graph").values
    assert agreement(np.nan_to_num(found), weights) == best_agreement(5, 2, weights)


@pytest.mark.parametrize("n_labels", [2, 3, 4])
@pytest.mark.parametrize("seed", range(3))
def test_more_labels_of_a_graph_are_the_best_cuts_of_their_order(seed, n_labels):
    log = random_log(seed, n=6)
    weights = weights_of(log)
    margin = [sum(w * (int(u == d) - int(v == d)) for (u, v), w in weights.items()) for d in range(6)]
    order = sorted(range(6), key=lambda d: -margin[d])
    found = label_pairs(log, f"graph(labels={n_labels})").values
    assert agreement(np.nan_to_num(found), weights) == best_cut(order, n_labels, weights)
    if n_labels == 2:
        by_cuts = np.empty(6)
        net = np.array([[weights.get((u, v), 0) - weights.get((v, u), 0) for v in order] for u in order], np.float64)
        by_cuts[order] = cut_order(net, 2)
        assert by_cuts.tolist() == found.tolist()


def test_documents_without_preferences_get_no_label_from_a_graph():
    log = ClickLog.from_pages([("q", ["a", "b", "c"], [2]), ("r", ["a", "b"], [])])
    assert label_pairs(log, "graph").values[:2].tolist() == [0, 1]
    assert np.isnan(label_pairs(log, "graph").values[2:]).all()
    assert label_pairs(log, "graph(labels=5)").values[:2].tolist() == [0, 1]
