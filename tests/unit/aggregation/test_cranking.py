"""Cranking: distances, the likelihood and the chains against enumeration, planted θ, diagnostics."""

import functools
import math
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau

from podium.aggregation import Cranked, Cranking, SupervisedAggregator, cranking_exact, with_labels
from podium.aggregation.cranking_chain import Chain
from podium.aggregation.cranking_exact import Enumerated
from podium.aggregation.cranking_lists import CrankingQuery
from podium.aggregation.diagnostics import effective_size, r_hat
from podium.aggregation.permutations import KINDS, change, distance
from podium.aggregation.rankings.rankings import Rankings
from podium.base.errors import ConvergenceWarning, DataError, IncompatibleError

every_distance = pytest.mark.parametrize("kind", range(3), ids=KINDS)
THETA = np.array([-0.3, -0.8, -0.5])
GRADES = np.array([2.0, 1.0, 0.0, 0.0, 1.0])


@functools.cache
def partial():
    return Rankings.from_orders([[list("ABCDE"), list("CAB"), ["E", ("A", "B"), "D", "C"]]])


@functools.cache
def full():
    return Rankings.from_orders([[list("ABCDEF"), list("CABFED"), list("EFADBC")]])


def slow_distance(kind, a, b):
    pairs = [(i, j) for i in range(len(a)) for j in range(i)]
    if kind == 0:
        return sum((a[i] < a[j]) != (b[i] < b[j]) for i, j in pairs)
    if kind == 1:
        return sum(abs(x - y) for x, y in zip(a, b, strict=True))
    reached, steps = {tuple(a)}, 0  # Cayley: breadth first over exchanges of two documents
    while tuple(b) not in reached:
        steps += 1
        for ranking in tuple(reached):
            for i, j in pairs:
                swapped = list(ranking)
                swapped[i], swapped[j] = swapped[j], swapped[i]
                reached.add(tuple(swapped))
    return steps


@every_distance
@given(a=st.permutations(range(5)), b=st.permutations(range(5)))
@settings(max_examples=30, deadline=None)
def test_distances_are_those_of_their_definitions(kind, a, b):
    assert distance(kind, np.array(a), np.array(b)) == slow_distance(kind, a, b)


@every_distance
@given(a=st.permutations(range(7)), b=st.permutations(range(7)), pair=st.permutations(range(7)))
@settings(max_examples=60, deadline=None)
def test_an_exchange_changes_a_distance_by_what_is_said(kind, a, b, pair):
    moved, other, (i, j) = np.array(a), np.array(b), pair[:2]
    at = np.argsort(moved)
    said = [change(kind, moved, other, at, other, i, j), change(kind, other, moved, at, other, i, j)]
    before = distance(kind, moved, other)
    for ranking, grown in zip((moved, other), said, strict=True):
        swapped = ranking.copy()
        swapped[[i, j]] = swapped[[j, i]]
        rest = other if ranking is moved else moved
        assert distance(kind, swapped, rest) - before == grown


def agreeing(groups):
    """Every strict ranking, as places, that puts lower groups first."""
    pairs = [(i, j) for i, j in product(range(len(groups)), repeat=2) if groups[i] < groups[j]]
    return [p for p in permutations(range(len(groups))) if all(p[i] < p[j] for i, j in pairs)]


def slow_likelihood(kind, query, theta):
    """The mean over strict lists of P(G(π)), by three nested loops."""
    chances = []
    for lists in product(*(agreeing(row) for row in query.groups)):
        weight = {
            p: math.exp(sum(t * distance(kind, np.array(p), np.array(s)) for t, s in zip(theta, lists, strict=True)))
            for p in permutations(range(query.n_documents))
        }
        chances.append(sum(weight[p] for p in agreeing(query.final)) / sum(weight.values()))
    return math.log(np.mean(chances))


@every_distance
def test_the_likelihood_of_partial_lists_is_that_of_three_nested_sums(kind):
    query = CrankingQuery.of(partial().query(0), GRADES)
    assert query.completions == 4  # D, E of the second list; A, B of the third
    value, gradient = Enumerated(query, kind).likelihood(THETA)
    assert value == pytest.approx(slow_likelihood(kind, query, THETA))
    for j, h in product(range(3), [1e-5]):
        up, down = (Enumerated(query, kind).likelihood(THETA + sign * h * np.eye(3)[j])[0] for sign in (1, -1))
        assert gradient[j] == pytest.approx((up - down) / (2 * h), abs=1e-8)


def learned(rankings, kind=0, theta=THETA):
    how = Cranking(distance=KINDS[kind], sweeps=1500)
    return Cranked(how, rankings.voters, -np.asarray(theta), {}, 1)


@every_distance
@pytest.mark.parametrize(("votes", "slack"), [(full, 0.025), (partial, 0.05)], ids=["full", "partial"])
def test_the_chain_gives_the_rank_marginals_of_enumeration(kind, votes, slack, monkeypatch):
    rankings = votes()
    model = learned(rankings, kind, 0.5 * THETA)
    exact = model.rank_distribution(rankings.query(0))
    assert exact.marginals.sum(axis=0) == pytest.approx(np.ones(rankings.n_documents))
    monkeypatch.setattr(cranking_exact, "fits", lambda query: False)
    drawn = model.rank_distribution(rankings.query(0))
    assert drawn.r_hat < 1.02
    assert drawn.expected == pytest.approx(exact.expected, abs=5 * drawn.standard_errors.max())
    # few draws of the ways to complete the lists leave a spread of their own
    assert drawn.marginals == pytest.approx(exact.marginals, abs=slack)


@pytest.mark.slow
@every_distance
def test_the_chain_gives_the_gradient_of_enumeration_where_only_the_grades_are_partial(kind):
    query = CrankingQuery.of(full().query(0), np.array([2.0, 1.0, 0.0, 0.0, 1.0, 0.0]))
    expected = Enumerated(query, kind).likelihood(THETA)[1]
    of_final, of_free = Chain(query, kind, np.random.default_rng(2)).train(THETA, 8_000)
    size = effective_size(of_free[:, :1].T)
    error = np.hypot(of_final.std(axis=0), of_free.std(axis=0)) / np.sqrt(0.5 * size)
    assert (np.abs(of_final.mean(axis=0) - of_free.mean(axis=0) - expected) < 4 * error).all()


@pytest.mark.slow
@every_distance
def test_the_chain_gives_the_gradient_of_enumeration_where_the_lists_are_partial_too(kind):
    query = CrankingQuery.of(partial().query(0), GRADES)
    expected = Enumerated(query, kind).likelihood(THETA)[1]
    of_final, of_free = Chain(query, kind, np.random.default_rng(2)).train(THETA, 25_000)
    assert of_final.mean(axis=0) - of_free.mean(axis=0) == pytest.approx(expected, abs=0.08)


def planted(seed, theta, *, n_queries, n, grades=None, depth=None, kind=0):
    """Random voters, and a final ranking drawn from the distribution, known up to grades that begin at these places."""
    rng, orders, labels = np.random.default_rng(seed), [], {}
    names = [f"d{i:02d}" for i in range(n)]
    for q in range(n_queries):
        lists = [[names[i] for i in rng.permutation(n)] for _ in theta]
        whole = CrankingQuery.of(Rankings.from_orders([lists]).query(0))
        chain = Chain(whole, kind, rng)
        chain.observe(np.array(theta), 40 + n)
        for name, place in zip(names, chain.free, strict=True):
            labels[str(q), name] = n - place if grades is None else np.digitize(n - place, grades)
        orders.append([order[:depth] for order in lists])
    return with_labels(Rankings.from_orders(orders), labels)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "how", "more"),
    [
        (5, "enumerated", {}),
        (5, "enumerated", {"grades": [3, 5]}),
        (5, "enumerated", {"depth": 4}),
        (12, "simulated", {}),
        (12, "simulated", {"grades": [8, 11]}),
        (12, "simulated", {"grades": [8, 11], "depth": 8}),
    ],
    ids=str,
)
def test_planted_theta_is_recovered(n, how, more):
    theta = np.array([-1.0, -0.5, -0.2, 0.0]) * 5 / n
    model = Cranking().fit(planted(4, theta, n_queries=150, n=n, **more))
    assert model.record["how"] == how
    assert (model.theta <= 0.0).all()
    assert model.theta * n / 5 == pytest.approx(theta * n / 5, abs=0.2)
    if how == "simulated":
        assert model.record["r_hat"] < 1.1


@pytest.mark.parametrize("kind", [1, 2], ids=KINDS[1:])
def test_planted_theta_of_other_distances_is_recovered(kind):
    theta = np.array([-0.5, -0.2, 0.0]) * (1 if kind == 1 else 2)
    model = Cranking(distance=KINDS[kind]).fit(planted(5, theta, n_queries=150, n=5, kind=kind))
    assert model.theta == pytest.approx(theta, abs=0.2)


@pytest.mark.slow
def test_chains_and_enumeration_learn_the_same_theta(monkeypatch):
    rankings = planted(6, [-0.8, -0.3, 0.0], n_queries=80, n=6, grades=[4, 6])
    exact = Cranking().fit(rankings)
    monkeypatch.setattr(cranking_exact, "fits", lambda query: False)
    drawn = Cranking(rounds=120).fit(rankings)
    assert drawn.theta == pytest.approx(exact.theta, abs=0.05)


def test_a_voter_who_is_always_wrong_is_ignored_and_one_who_is_always_right_believed():
    orders = [[list("ABCD"), list("DCBA")], [list("DABC"), list("CBAD")]]
    labels = {(q, d): -p for q, order in (("0", "ABCD"), ("1", "DABC")) for p, d in enumerate(order)}
    model = Cranking().fit(with_labels(Rankings.from_orders(orders), labels))
    assert model.theta.tolist() == [-10.0, 0.0]
    assert model(Rankings.from_orders([[list("BCAD"), list("ABCD")]])).order(0) == list("BCAD")


def test_expected_ranks_of_one_voter_follow_its_order_and_silent_voters_change_nothing():
    alone = Rankings.from_orders([[list("CAB"), None, None]])
    scores = learned(alone)(alone).scores
    assert learned(alone)(alone).order(0) == list("CAB")
    # Mallows on three documents: E rank of the top is Σ r e^{θ(r−1)} / Σ e^{θ(r−1)}
    odds = np.exp(THETA[0] * np.arange(3))
    assert -scores[2] == pytest.approx(odds @ [1, 2, 3] / odds.sum())


@pytest.mark.parametrize("n", [20, 50, 100, 200])
@pytest.mark.parametrize("theta", [-0.01, -0.05, -0.3])
def test_one_voter_gets_his_own_list_and_the_expected_ranks_of_mallows(n, theta):
    names = [f"d{i:03d}" for i in np.random.default_rng(n).permutation(n)]
    rankings = Rankings.from_orders([[names]])
    model = Cranked(Cranking(), rankings.voters, np.array([-theta]), {}, 0)
    found = model(rankings)
    assert kendalltau(found.ranks(), [names.index(d) for d in found.document_ids]).statistic > 0.999
    # P(i before j) of Mallows' distribution depends on how far apart they are (Mallows 1957), and the sum telescopes
    place = np.arange(1, n + 1)
    up, down = place / -np.expm1(theta * place), (n + 1 - place) / -np.expm1(theta * (n + 1 - place))
    scores = dict(zip(found.document_ids, found.scores, strict=True))
    assert [-scores[name] for name in names] == pytest.approx(1 + n - place + up - down, abs=0.2)


@pytest.mark.parametrize("kind", [0, 2], ids=["kendall", "cayley"])  # the footrule's limit is near Borda, not Borda
def test_of_a_flat_distribution_weighted_borda_decides_not_the_noise(kind):
    rng = np.random.default_rng(3)
    lists = [[f"d{i:02d}" for i in rng.permutation(30)] for _ in range(3)]
    rankings, theta = Rankings.from_orders([lists]), np.array([-1e-4, -2e-4, -3e-4])
    found = learned(rankings, kind, theta)(rankings)
    places = [[order.index(d) for d in found.document_ids] for order in lists]
    assert kendalltau(-found.scores, theta @ places).statistic < -0.95


def test_chains_that_have_not_mixed_are_told():
    names = [f"d{i:02d}" for i in range(60)]  # A B C, B C A, C A B: three orders, each far from the others
    rankings = Rankings.from_orders([[names, names[20:] + names[:20], names[40:] + names[:40]]])
    model = Cranked(Cranking(), rankings.voters, np.ones(3), {}, 0)
    with pytest.warns(ConvergenceWarning, match=r"^cranking: the chains have not mixed: R-hat is .* Raise sweeps\."):
        assert model(rankings).r_hats[0] > 1.1


def test_the_same_seed_gives_the_same_bits_on_any_number_of_threads(monkeypatch):
    rankings = planted(7, [-0.3, 0.0], n_queries=6, n=10)
    found = []
    for threads in ("1", "2"):
        monkeypatch.setenv("PODIUM_THREADS", threads)
        model = Cranking(rounds=10, sweeps=20).fit(rankings, seed=3)
        found.append((model.theta.tolist(), model(rankings).scores.tolist(), model.record))
    assert found[0] == found[1]
    assert Cranking(rounds=10, sweeps=20).fit(rankings, seed=4).theta.tolist() != found[0][0]


def test_other_voters_and_missing_judgments_are_refused():
    model = learned(full())
    with pytest.raises(IncompatibleError, match=r"^cranking was trained on voters 1, 2, 3; got 1, 2\. Give the same"):
        model(Rankings.from_orders([[list("AB"), list("BA")]]))
    with pytest.raises(DataError, match="cranking learns from grades, and the rankings have none"):
        Cranking().fit(full())
    with pytest.raises(DataError, match="in none of 1 queries is one document graded above another"):
        Cranking().fit(with_labels(full(), {("9", "A"): 1.0}))


def test_supervised_aggregators_have_names_that_parse_back_and_pages():
    for cls in SupervisedAggregator.catalogue().values():
        assert SupervisedAggregator.parse(repr(cls())) == cls()
        for heading in ("Formula:", "Ties:", "Cost:", "Use it for:", "Reference:"):
            assert heading in cls.__doc__
    assert repr(learned(full(), 2)) == "cranking(sweeps=1500,distance=cayley)"


def test_effective_size_of_an_autoregression_is_the_one_of_its_formula():
    rng, rho = np.random.default_rng(1), 0.8
    traces = np.zeros((4, 20_000))
    for t in range(1, traces.shape[1]):
        traces[:, t] = rho * traces[:, t - 1] + rng.normal(size=4)
    expected = traces.size * (1 - rho) / (1 + rho)
    assert effective_size(traces) == pytest.approx(expected, rel=0.1)
    assert r_hat(traces) == pytest.approx(1.0, abs=0.01)


def test_r_hat_sees_chains_that_disagree_and_chains_on_their_way():
    noise = np.random.default_rng(2).normal(size=(2, 1000))
    assert r_hat(noise + np.array([[0.0], [2.0]])) > 1.2
    assert r_hat(noise + np.linspace(0.0, 3.0, 1000)) > 1.2
    assert r_hat(np.ones((2, 10))) == 1.0
    apart = noise + np.array([[0.0], [2.0]])
    assert r_hat(np.stack([noise, apart], axis=2)) == pytest.approx([float(r_hat(noise)), float(r_hat(apart))])
