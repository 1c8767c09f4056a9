"""Propensities from logs: planted curves are found, intervals hold them, and what cannot be told apart is refused."""

import dataclasses
import warnings

import numpy as np
import pytest

from podium.base.errors import DataError, ParameterError, PodiumWarning, UnknownNameError
from podium.clicks import ClickLog, simulate, simulate_counts
from podium.clicks.models import PBM
from podium.data.synthetic import make_letor_like
from podium.propensities import ByClickModel, Estimator, propensities
from podium.propensities.base import parse
from podium.testing.names import page_has_headings, text_gives_it_back

DATA, _ = make_letor_like(60, (8, 12), n_features=8, seed=1)
TRUE = 1 / np.arange(1, 6)
RANKERS = [np.asarray(DATA.features[:, column], np.float64) for column in (0, 5)]


@pytest.fixture(scope="module")
def shuffled():
    return simulate(DATA, pages=20_000, depth=5, seed=0)


@pytest.fixture(scope="module")
def two_rankers():
    return simulate(DATA, RANKERS, pages=40_000, depth=5, seed=0)


def swapped(log):
    """Pages in the order of the first ranker, on which a coin swaps rank 1 with one of the others."""
    rng = np.random.default_rng(5)
    one = log.select(log.rankers == 0)
    pairs = one.pairs.copy()
    for page in np.flatnonzero(rng.random(one.n_pages) < 0.5):
        a, k = one.offsets[page], rng.integers(1, 5)
        pairs[[a, a + k]] = pairs[[a + k, a]]
    found = dataclasses.replace(one, pairs=pairs, rankers=None, ranker_names=())
    chance = np.full(found.n_pairs, 0.1)
    known = found.find_pairs(DATA.query_ids[DATA.query_index], DATA.document_ids)
    chance[known[known >= 0]] = 0.1 + 0.9 * DATA.labels[known >= 0] / 4
    return found.with_clicks(rng.random(found.n_impressions) < chance[pairs] * TRUE[found.ranks() - 1])


def holds(found, *, spread=1.5):
    """Nearly every interval holds the truth, and none is far from it."""
    true = 1 / found.ranks
    assert (found.low[1:] <= found.theta[1:]).all()
    width = np.log(found.high[1:] / found.low[1:])
    assert (np.abs(np.log(found.theta[1:] / true[1:])) < spread * width).all(), (found.theta, found.low, found.high)
    assert (found.low[0], found.theta[0], found.high[0]) == (1.0, 1.0, 1.0)


@pytest.mark.parametrize("how", ["randomised", "swap", "pbm", "ubm"])
def test_a_planted_curve_is_found_on_shuffled_pages(shuffled, how):
    holds(propensities(shuffled, how))


@pytest.mark.parametrize("how", ["harvest", "harvest(by=pivot)", "harvest(by=chain)"])
def test_a_planted_curve_is_found_where_two_rankers_differ(two_rankers, how):
    found = propensities(two_rankers, how)
    holds(found)
    assert found.how == how


def test_swapped_documents_give_the_ratio_of_their_ranks(two_rankers):
    log = swapped(two_rankers)
    holds(propensities(log, "swap"))
    one = propensities(log, "swap(k=3)")
    assert one.ranks.tolist() == [1, 3]
    holds(one)


def shuffled_pages(seed, pages=3000):
    """Shuffled pages of two queries: good documents on short pages, bad ones on long pages; θ_k = 1/k."""
    rng, made = np.random.default_rng(seed), []
    for _ in range(pages):
        query, chances = [("short", [0.9, 0.8]), ("long", [0.2, 0.1, 0.3, 0.2])][rng.integers(2)]
        order = rng.permutation(len(chances))
        clicks = [r for r, d in enumerate(order, 1) if rng.random() < chances[d] / r]
        made.append((query, [f"d{d}" for d in order], clicks))
    return ClickLog.from_pages(made)


def test_shuffled_pages_of_unlike_length_are_compared_with_their_like():
    """Rank 3 has documents of one query only; compared with rank 1 of both, θ was .134 where the truth is .333."""
    found = [propensities(shuffled_pages(seed), "randomised") for seed in range(12)]
    theta, true = np.array([one.theta for one in found]), 1 / np.arange(1, 5)
    spread = theta.std(axis=0, ddof=1)
    assert (np.abs(theta.mean(axis=0) - true) <= 3 * spread / np.sqrt(12) + 1e-12).all(), theta.mean(axis=0)
    held = np.mean([(one.low <= true) & (true <= one.high) for one in found], axis=0)
    assert (held >= 0.75).all(), held


def test_a_rank_that_has_no_like_at_rank_1_is_refused():
    pages = [("q", ["a", "b"], [1]), ("q", ["b", "a"], [2])] * 5 + [
        ("r", ["a", "b", "c"], [3]),
        ("r", ["c", "b", "a"], [2]),
    ]
    with pytest.raises(DataError, match=r"no click at rank 1 on pages .* rank 3.*depth 2"):
        propensities(ClickLog.from_pages(pages), "randomised")


def test_swap_is_the_ratio_of_mantel_and_haenszel():
    pages = [("q", ["a", "b"], [1])] * 3 + [("q", ["a", "b"], [])] + [("q", ["b", "a"], [2])] * 2
    pages += [("q", ["b", "a"], [1])] * 4 + [("q", ["b", "a"], [])] * 2 + [("q", ["c", "a"], [2])] * 9
    found = propensities(ClickLog.from_pages(pages), "swap")
    up = 2 * 4 / 12 + 0  # a: 2 clicks of 8 at rank 2, 3 of 4 at rank 1; b: none of 4 at rank 2, 4 of 8 at rank 1
    down = 3 * 8 / 12 + 4 * 4 / 12
    assert found.theta[1] == pytest.approx(up / down)


def test_all_pairs_is_at_the_top_of_its_likelihood(two_rankers):
    """No rank alone can be moved, with the best r for it, and gain likelihood."""
    from scipy.optimize import minimize_scalar

    from podium.propensities.harvest import _seen

    clicked, size = _seen(two_rankers, "harvest").sums(np.ones(two_rankers.n_queries))
    theta = propensities(two_rankers, "harvest(draws=0)").theta

    def likelihood(theta):
        total = 0.0
        for k in range(5):
            for j in range(k):
                if size[k, j] == 0:
                    continue
                hits, places = np.array([clicked[k, j], clicked[j, k]]), theta[[k, j]]

                def cost(r, hits=hits, places=places, n=size[k, j]):
                    return -(hits * np.log(places * r) + (n - hits) * np.log1p(-places * r)).sum()

                top = (1 - 1e-9) / places.max()
                total -= minimize_scalar(cost, bounds=(1e-9, top), method="bounded", options={"xatol": 1e-12}).fun
        return total

    best = likelihood(theta)
    for k in range(1, 5):
        for factor in (0.98, 1.02):
            moved = theta.copy()
            moved[k] *= factor
            assert likelihood(moved) < best


def test_documents_clicked_on_every_page_do_not_stop_the_search_for_the_best_theta():
    from podium.propensities.harvest import _all_pairs

    size = np.array([[0, 2, 100], [2, 0, 100], [100, 100, 0]], float)
    clicked = np.array([[0, 2, 80], [2, 0, 60], [40, 45, 0]], float)  # at ranks 1 and 2 always
    assert _all_pairs(clicked, size) == pytest.approx([1, 0.5 / 0.75, 0.5], rel=1e-4)


def test_counted_clicks_give_what_their_pages_would():
    log = simulate_counts(DATA, RANKERS, pages=200_000, depth=5, seed=1)
    holds(propensities(log, "harvest(draws=30)"))
    holds(propensities(log, "pbm"), spread=2)


def test_pages_in_the_same_order_are_refused_by_what_needs_changes():
    log = simulate(DATA, RANKERS[:1], pages=500, depth=5, seed=0)
    for how in ("randomised", "pbm", "ubm", "dbn"):
        with pytest.raises(DataError, match="no document was shown at two ranks"):
            propensities(log, how)
    with pytest.raises(DataError, match="two or more rankers"):
        propensities(log, "harvest")
    with pytest.raises(DataError, match="in both orders"):
        propensities(log, "swap")


def test_ranks_that_cannot_be_compared_are_refused_and_can_be_left_out():
    pages = [("q", ["a", "b", "c"], [1]), ("q", ["b", "a", "c"], [1]), ("q", ["a", "b", "c"], [2, 3])] * 5
    log = ClickLog.from_pages(pages)
    with pytest.raises(DataError, match=r"rank 1 and at rank 3.*depth 2"):
        propensities(log, "pbm")
    assert propensities(log, "randomised", depth=2).ranks.tolist() == [1, 2]


def test_ordered_pages_are_not_taken_for_shuffled(two_rankers):
    with pytest.warns(PodiumWarning, match="documents keep to some ranks"):
        propensities(two_rankers, "randomised")


def test_ordered_pages_are_noticed_among_queries_that_were_asked_once():
    pages = [(f"q{k}", ["a", "b", "c"], [1]) for k in range(300)]
    pages += [(f"r{k % 20}", ["a", "b", "c"] if k % 4 else ["b", "a", "c"], [1]) for k in range(400)]
    pages += [("r0", ["c", "b", "a"], [2])]
    with pytest.warns(PodiumWarning, match="documents keep to some ranks"):
        propensities(ClickLog.from_pages(pages), "randomised")


def test_a_ranker_that_depends_on_the_query_is_noticed(two_rankers):
    kept = (two_rankers.page_query % 2 == two_rankers.rankers) | (np.arange(two_rankers.n_pages) % 5 == 0)
    with pytest.warns(PodiumWarning, match="depends on the query"):
        propensities(two_rankers.select(kept), "harvest(draws=0)")


def test_too_few_clicks_for_each_document_are_noticed():
    log = simulate(DATA, RANKERS, pages=300, depth=5, seed=0)
    with pytest.warns(PodiumWarning, match=r"1\.\d clicks each on average"):
        propensities(log, "click-model(draws=0)")


def test_click_rates_are_no_examination(shuffled):
    with pytest.raises(ParameterError, match="rctr does not tell examination from relevance"):
        propensities(shuffled, "rctr")


def test_models_that_read_from_the_top_need_whole_pages():
    log = simulate_counts(DATA, RANKERS, pages=2_000, depth=5, seed=1)
    with pytest.raises(DataError, match=r"dbn.* reads pages from rank 1 on"):
        propensities(log, "dbn")


def test_a_log_without_clicks_and_wrong_names_are_refused(shuffled):
    with pytest.raises(DataError, match="no clicks"):
        propensities(shuffled.with_clicks(np.zeros(shuffled.n_impressions)), "pbm")
    with pytest.raises(UnknownNameError, match="Did you mean 'harvest'"):
        propensities(shuffled, "harvst")


def test_a_click_model_stands_for_itself_with_a_small_prior(shuffled):
    meant = PBM(prior=0.01, iterations=3000, tolerance=1e-10, most=5)
    assert parse("pbm(most=5)") == parse(meant) == ByClickModel(meant)
    found = propensities(shuffled, ByClickModel(meant, draws=0))
    assert found.how == str(meant)
    assert np.isnan(found.low).all()


@pytest.mark.parametrize("name", Estimator.catalogue())
def test_every_estimator_has_a_page_and_its_text_gives_it_back(name):
    value = Estimator.parse(name)
    text_gives_it_back(value)
    page_has_headings(value, ["Formula", "Cost", "Use it for", "Reference"])


def test_warnings_are_only_given_where_there_is_reason(shuffled, two_rankers):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        propensities(shuffled, "randomised")
        propensities(two_rankers, "harvest(draws=2)")
