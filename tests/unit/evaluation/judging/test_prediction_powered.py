"""Prediction-powered inference: worked numbers, coverage with good and bad judges, refusals, and the command."""

import json
import math

import numpy as np
import pytest

import podium as podium_package
from podium.base.errors import DataError
from podium.evaluation.judging.prediction_powered import (
    FEW,
    prediction_powered,
    prediction_powered_sample,
    weighted_mean,
)
from podium.evaluation.judging.sampling import deviations, equal_weights, equal_weights_of_sum, unequal_words
from podium.judgments.query_sample import drawn_queries

Y, THERE = np.array([0.8, 0.5, 0.6, 0.9]), np.array([0.7, 0.4, 0.7, 0.8])
ELSEWHERE = np.array([0.7, 0.5, 0.6, 0.8, 0.4, 0.9, 0.5, 0.6, 0.7, 0.5])


def by_formula(weight):
    """The estimate and its standard error at a fixed λ."""
    estimate = weight * ELSEWHERE.mean() + (Y - weight * THERE).mean()
    return estimate, np.sqrt(weight**2 * ELSEWHERE.var(ddof=1) / 10 + (Y - weight * THERE).var(ddof=1) / 4)


def test_the_formulas_have_the_worked_numbers():
    assert by_formula(0.0) == pytest.approx((0.700, 0.0913), abs=5e-5)
    assert by_formula(1.0) == pytest.approx((0.670, 0.0700), abs=5e-5)
    best = np.cov(Y, THERE)[0, 1] / ((1 + 4 / 10) * ELSEWHERE.var(ddof=1))
    assert best == pytest.approx(0.793651, abs=5e-7)
    assert by_formula(best) == pytest.approx((0.676190, 0.063144), abs=5e-7)


def test_the_estimate_is_that_of_the_formula(monkeypatch):
    monkeypatch.setattr("podium.evaluation.judging.prediction_powered.LEAST", 4)
    monkeypatch.setattr("podium.evaluation.judging.prediction_powered.FEW", 4)
    found = prediction_powered(Y, THERE, ELSEWHERE)
    assert found.weight == pytest.approx(0.793651, abs=5e-7)
    assert (found.value, found.error) == pytest.approx((0.676190, 0.063144), abs=5e-7)
    assert (found.human, found.human_error) == pytest.approx((0.700, 0.0913), abs=5e-5)
    assert found.effective_queries == pytest.approx(4 * (0.091287 / 0.063144) ** 2, rel=1e-4)


def judged(kind, human, rng):
    """Values by the labels of a judge."""
    if kind == "good":
        return human + rng.normal(0, 0.08, human.shape)
    if kind == "biased":
        return 0.4 + 0.5 * human + rng.normal(0, 0.1, human.shape)
    return np.full(human.shape, 0.7) if kind == "constant" else rng.uniform(size=human.shape)


@pytest.mark.parametrize("n", [20, 80])
@pytest.mark.parametrize(("kind", "ratio"), [("good", 0.75), ("biased", 0.9), ("random", 1.05), ("constant", 1.001)])
def test_intervals_cover_for_any_judge_and_are_narrower_for_a_good_one(kind, ratio, n):
    """1,000 simulations; the mean of uniform values is ½."""
    rng, held, widths = np.random.default_rng(n), 0, []
    runs = 1000 if n >= FEW else 600
    for _ in range(runs):
        human = rng.uniform(size=n + 400)
        machine = judged(kind, human, rng)
        found = prediction_powered(human[:n], machine[:n], machine[n:])
        held += found.interval.low <= 0.5 <= found.interval.high
        widths.append(found.error / found.human_error)
    assert 0.93 <= held / runs <= 0.97
    assert np.mean(widths) < ratio


def one_log(rng, judge):
    """Human grades, machine grades and scores of 5 documents in 300 queries; four in ten have no relevant one."""
    grades = (rng.random((300, 5)) < rng.choice([0.0, 0.2, 0.4], size=(300, 1))).astype(np.int64)
    if judge == "strict":  # calls half of what is relevant irrelevant
        machine = grades * (rng.random(grades.shape) < 0.5)
    else:  # sees relevance where there is none
        machine = np.maximum(grades, rng.random(grades.shape) < 0.3)
    return grades, machine, 0.2 * grades + rng.random(grades.shape)


@pytest.mark.parametrize("judge", ["strict", "generous"])
def test_intervals_cover_where_humans_and_machine_find_different_queries_empty(judge):
    """NDCG skips queries without relevant documents: the mean is over those that count for humans."""
    rng, held, truth = np.random.default_rng(7), [], []
    for _ in range(400):
        values = np.array([ndcg(labels, scores) for labels, scores in _pairs(*one_log(rng, judge))]).reshape(2, 300)
        truth.append(np.nanmean(values[0]))
        held.append(prediction_powered(values[0, :80], values[1, :80], values[1, 80:]).interval)
    mean = np.mean(truth)
    assert 0.93 <= np.mean([low <= mean <= high for low, high in held]) <= 0.97


def _pairs(grades, machine, scores):
    return [*zip(grades, scores, strict=True), *zip(machine, scores, strict=True)]


def ndcg(grades, scores):
    """NaN without a relevant document."""
    if not grades.any():
        return np.nan
    discounts = 1 / np.log2([2, 3, 4, 5, 6])
    return grades[np.argsort(-scores)] @ discounts / (np.sort(grades)[::-1] @ discounts)


def test_runs_skip_queries_as_humans_do():
    """The human mean is that of evaluate, also if the machine finds nothing relevant in some of these queries."""
    rng = np.random.default_rng(11)
    grades, machine, scores = one_log(rng, "strict")

    def named(table):
        return {f"q{q}": {f"d{d}": table[q, d].item() for d in range(5)} for q in range(len(table))}

    human = {q: row for q, row in named(grades).items() if int(q[1:]) < 60}
    powered = podium_package.evaluate_with_machine(human, named(machine), {"run": named(scores)}, "ndcg@5")
    alone = podium_package.evaluate_run(human, named(scores), "ndcg@5").means()["ndcg@5"].value
    assert powered.means["ndcg@5"]["run"].human == pytest.approx(alone)
    assert powered.means["ndcg@5"]["run"].human_queries == 60


def test_a_constant_judge_is_not_trusted_and_a_perfect_one_is():
    rng = np.random.default_rng(0)
    human = rng.uniform(size=60)
    assert prediction_powered(human, np.full(60, 0.4), np.full(500, 0.4)).weight == 0.0
    assert prediction_powered(human, human, rng.uniform(size=5000)).weight > 0.9


def test_the_order_of_queries_does_not_matter():
    rng = np.random.default_rng(1)
    human, there, rest = rng.uniform(size=20), rng.uniform(size=20), rng.uniform(size=50)
    order = rng.permutation(20)
    first, second = prediction_powered(human, there, rest), prediction_powered(human[order], there[order], rest[::-1])
    assert second.value == pytest.approx(first.value)
    assert second.error == pytest.approx(first.error)


def test_more_queries_give_the_width_asked_for():
    rng = np.random.default_rng(2)
    human = rng.uniform(size=60)
    found = prediction_powered(human, human + rng.normal(0, 0.1, 60), rng.uniform(size=100_000))
    more = found.more_queries(0.01)
    assert more is not None
    width = 1.96 * np.sqrt(found._machine_variance + found._rest_variance / (60 + more))
    assert width == pytest.approx(0.01, rel=0.01)
    assert prediction_powered(human, human, rng.uniform(size=50)).more_queries(0.001) is None


def test_weighted_means_of_unequal_draws_are_those_of_all_queries():
    rng = np.random.default_rng(3)
    values, chance = rng.uniform(size=2000), rng.uniform(0.05, 0.5, 2000)
    values += chance  # queries drawn more often have larger values
    found = []
    for _ in range(300):
        drawn = rng.random(2000) < chance
        found.append(weighted_mean(values[drawn], 1 / chance[drawn]))
    means, variances = np.array(found).T
    assert means.mean() == pytest.approx(values.mean(), abs=0.003)
    assert np.sqrt(variances.mean()) == pytest.approx(means.std(), rel=0.15)


def test_intervals_of_unequal_weights_hold():
    """500 samples, log-normal weights: with n − 1 degrees of freedom intervals held in 90 % (20) and 92 % (50)."""
    rng = np.random.default_rng(5)
    for n in (20, 50):
        held = np.zeros(2)
        for _ in range(500):
            weights, human = np.exp(rng.normal(size=n + 300)), rng.uniform(size=n + 300)
            machine = human + rng.normal(0, 0.15, n + 300)
            found = prediction_powered(
                human[:n], machine[:n], machine[n:], weights=weights[:n], weights_elsewhere=weights[n:]
            )
            held += [low <= 0.5 <= high for low, high in (found.human_interval, found.interval)]
        assert (held / 500 >= 0.93).all()


def test_degrees_of_freedom_are_those_of_satterthwaite():
    weights, random = np.array([4.0, 2.0, 1.0, 1.0]), np.array([0.5, 1.0, 1.0, 0.0])
    shares = random * weights**2
    assert equal_weights(weights, random) == pytest.approx(shares.sum() ** 2 / (shares**2).sum())
    assert equal_weights(np.full(7, 0.2), np.ones(7)) == pytest.approx(7.0)
    assert equal_weights(weights, np.zeros(4)) == math.inf
    one, two = (9.0, 0.04), (3.0, 0.01)
    assert equal_weights_of_sum(one, two) == pytest.approx(min(9.0, 1 + 0.05**2 / (0.04**2 / 8 + 0.01**2 / 2)))


def test_queries_drawn_for_sure_add_no_variance():
    values, weights = np.array([0.9, 0.2, 0.4, 0.3]), np.array([5.0, 1.0, 1.0, 1.0])
    random = np.array([0.0, 0.5, 0.5, 0.5])
    found = deviations(values, weights, random)
    middle = float(weights @ values) / 8
    each = (values[1:] - middle) / 8
    assert found.mean == pytest.approx(middle)
    assert found.variance == pytest.approx(0.5 * 3 / 2 * np.sum((each - each.mean()) ** 2))
    assert deviations(values, weights, np.zeros(4)).variance == 0.0
    assert math.isnan(deviations(values, weights, np.array([0.0, 0.0, 0.0, 0.5])).variance)


def estimated(values, frequencies, *, n, human, seed):
    """The estimate from a sample for a machine, which is off by a quarter, and its part for human judges."""
    sample = drawn_queries(frequencies, n, human=human, seed=seed)
    entries, numbers = list(sample.values()), [int(query) for query in sample]
    machine = 0.2 + 0.7 * values[numbers] + np.random.default_rng(seed).normal(0, 0.12, n)
    part = np.flatnonzero([entry.human_weight is not None for entry in entries])
    of_part = np.array([entries[row][2:] for row in part], float)
    return prediction_powered_sample(
        values[numbers][part], machine, part, weights=(np.array([entry.weight for entry in entries]), of_part[:, 0]),
        random=(1.0 - np.array([entry.chance for entry in entries]), 1.0 - of_part[:, 1]),
    )  # fmt: skip


@pytest.mark.parametrize("head", [0.8, 1.3])
def test_samples_by_frequency_cover_the_mean_over_the_traffic(head):
    """400 samples: weights alone, of any 50 of 350 queries, held in 66 to 100 %, and were 2 to 20 times as wide."""
    counts = np.arange(1, 1001.0) ** -head
    values = np.random.default_rng(1).uniform(size=1000)
    truth, frequencies = np.average(values, weights=counts), {str(q): c for q, c in enumerate(counts.tolist())}
    found = [estimated(values, frequencies, n=350, human=50, seed=seed) for seed in range(400)]
    for spans in ([one.human_interval for one in found], [one.interval for one in found]):
        assert 0.93 <= np.mean([low <= truth <= high for low, high in spans]) <= 0.975
    assert np.mean([one.error / one.human_error for one in found]) < 0.65
    assert np.mean([one.value for one in found]) == pytest.approx(truth, abs=0.002)


def test_an_interval_on_a_handful_of_weights_is_called_so():
    assert unequal_words(50, 3.2) is not None
    assert unequal_words(50, 5.1) is None
    assert unequal_words(3, 3.0) is None


@pytest.mark.parametrize(
    ("n", "others", "words"),
    [
        (9, 50, "9 queries have human labels that the metric counts, and at least 10"),
        (12, 1, "1 queries have machine labels alone"),
    ],
)
def test_too_few_queries_are_refused(n, others, words):
    with pytest.raises(DataError, match=words):
        prediction_powered(np.arange(n), np.arange(n), np.arange(others))


def labels(rng, *, queries, noise):
    grades = {f"q{q}": {f"d{d}": int(rng.integers(0, 3)) for d in range(8)} for q in range(queries)}
    machine = {
        q: {d: int(np.clip(g + (rng.random() < noise) * rng.integers(-1, 2), 0, 2)) for d, g in row.items()}
        for q, row in grades.items()
    }
    run = {q: {d: g + rng.normal(0, 1.5) for d, g in row.items()} for q, row in grades.items()}
    return grades, machine, run


def test_runs_have_means_and_differences_with_intervals():
    rng = np.random.default_rng(4)
    grades, machine, run = labels(rng, queries=200, noise=0.2)
    other = {q: {d: s + rng.normal(0, 2) for d, s in row.items()} for q, row in run.items()}
    human = {q: grades[q] for q in list(grades)[:40]}
    found = podium_package.evaluate_with_machine(human, machine, {"new": run, "old": other}, ["ndcg@5", "map"])
    assert list(found.means) == ["ndcg@5", "map"]
    truth = podium_package.evaluate_run(grades, run, "ndcg@5").means()["ndcg@5"].value
    powered = found.means["ndcg@5"]["new"]
    assert abs(powered.value - truth) < 3 * powered.error
    assert powered.error < powered.human_error
    apart = found.differences["ndcg@5"]["old"]
    assert apart.interval.high < 0.0
    assert "λ" in repr(found)
    assert "−" in found.to_frame()["run"][1] or found.to_frame()["run"][2]
    json.dumps(found.to_dict())
