"""Similarity of ranked lists and of runs: worked numbers, slow references, ties, refusals."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from podium.base.errors import DataError, ParameterError
from podium.cli.main import app
from podium.evaluation.overlap.rank_overlap import jaccard, rank_biased_overlap, tau_ap, top_overlap
from podium.evaluation.overlap.run_similarity import compare_rankings


def listed(*documents: str | tuple[str, ...]) -> dict[str, float]:
    """A list, best first; documents in a bracket are tied."""
    groups = [group if isinstance(group, tuple) else (group,) for group in documents]
    return {document: -float(rank) for rank, group in enumerate(groups) for document in group}


def orders(scores: dict[str, float]):
    """Every order of the documents that the scores allow."""
    groups = [[d for d in scores if scores[d] == s] for s in sorted(set(scores.values()), reverse=True)]
    for parts in itertools.product(*(itertools.permutations(group) for group in groups)):
        yield [d for part in parts for d in part]


def slow_rbo(a: list[str], b: list[str], p: float) -> float:
    """RBO of the lists as they are, and as if all depths behind agreed as the formula of uneven lists says."""
    short, long = sorted((a, b), key=len)
    s, l = len(short), len(long)
    x = [0, *(len(set(a[:d]) & set(b[:d])) for d in range(1, l + 1))]
    seen = sum(x[d] / d * p**d for d in range(1, l + 1))
    supposed = sum(x[s] * (d - s) / (s * d) * p**d for d in range(s + 1, l + 1))
    return (1 - p) / p * (seen + supposed) + ((x[l] - x[s]) / l + x[s] / s) * p**l


def slow_tau_ap(a: list[str], b: list[str]) -> float:
    """τ_AP of the order a by the order b."""
    n = len(a)
    total = sum(sum(b.index(d) < b.index(a[i]) for d in a[:i]) / i for i in range(1, n))
    return 2 * total / (n - 1) - 1


def test_the_overlap_of_two_lists_with_one_exchange_at_the_top() -> None:
    a, b, p = listed("c", "d", "b", "a"), listed("d", "c"), 0.95
    sums = p / 1 * 0 + p**2 + p**3 * 2 / 3 + p**4 / 2
    unseen = 2 * (-math.log(1 - p) - sum(p**d / d for d in range(1, 5)))
    assert rank_biased_overlap(a, b, p=p, rest="none") == pytest.approx((1 - p) / p * (sums + unseen))
    assert rank_biased_overlap(a, b, p=p) == pytest.approx(slow_rbo(list("cdba"), list("dc"), p))
    assert sums / p / sum(p**d for d in range(4)) == pytest.approx(0.533806, abs=5e-7)  # cut at depth 4


def test_lists_that_are_the_same_and_lists_that_share_nothing() -> None:
    same, other = listed("a", "b", "c"), listed("x", "y")
    assert rank_biased_overlap(same, same) == pytest.approx(1.0)
    assert rank_biased_overlap(same, same, rest="none") < 1.0
    assert rank_biased_overlap(same, other) == rank_biased_overlap(same, {}) == 0.0
    assert (top_overlap(same, same), jaccard(same, same), tau_ap(same, same)) == (1.0, 1.0, 1.0)
    assert tau_ap(same, listed("c", "b", "a")) == -1.0
    assert (top_overlap(same, other), jaccard(same, other)) == (0.0, 0.0)
    assert math.isnan(tau_ap(same, other))


@pytest.mark.parametrize("seed", range(8))
def test_ties_are_the_mean_over_all_orders(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a = {d: float(rng.integers(0, 3)) for d in rng.permutation(list("abcdef"))[: rng.integers(2, 6)]}
    b = {d: float(rng.integers(0, 3)) for d in rng.permutation(list("abcdef"))[: rng.integers(2, 6)]}
    pairs = list(itertools.product(orders(a), orders(b)))
    assert rank_biased_overlap(a, b, p=0.8) == pytest.approx(np.mean([slow_rbo(x, y, 0.8) for x, y in pairs]))
    shared = np.mean([len(set(x[:3]) & set(y[:3])) for x, y in pairs])
    assert top_overlap(a, b, k=3) == pytest.approx(shared / min(3, max(len(a), len(b))))
    common = [([d for d in x if d in b], [d for d in y if d in a]) for x, y in pairs]
    if len(set(a) & set(b)) > 1:
        both = [0.5 * (slow_tau_ap(x, y) + slow_tau_ap(y, x)) for x, y in common]
        assert tau_ap(a, b) == pytest.approx(np.mean(both))


def test_swaps_at_the_top_count_more() -> None:
    first, last = listed("b", "a", "c", "d"), listed("a", "b", "d", "c")
    assert tau_ap(listed("a", "b", "c", "d"), first) < tau_ap(listed("a", "b", "c", "d"), last)
    assert rank_biased_overlap(listed("a", "b", "c", "d"), first) < rank_biased_overlap(
        listed("a", "b", "c", "d"), last
    )


def test_long_lists_are_quick_and_deep_ranks_do_not_matter() -> None:
    a = {f"d{k}": -float(k) for k in range(20_000)}
    b = {f"d{k}": -float(k) for k in range(300)} | {f"e{k}": -float(k) for k in range(300, 20_000)}
    assert rank_biased_overlap(a, b, p=0.9) == pytest.approx(1.0, abs=1e-10)


def test_runs_are_compared_on_the_queries_that_both_answer() -> None:
    x = {"1": listed("a", "b"), "2": listed("a", "b")}
    y = {"1": listed("a", "b"), "2": listed("b", "a"), "3": listed("c")}
    similarity = compare_rankings({"x": x, "y": y, "z": x}, k=1)
    assert similarity.pairs[0].means["overlap@1"] == 0.5
    assert (similarity.pairs[0].queries, similarity.pairs[0].only_one) == (2, 1)
    assert similarity.matrix("overlap@1").tolist() == [[1, 0.5, 1], [0.5, 1, 0.5], [1, 0.5, 1]]
    assert "left out" in str(similarity)


def test_what_cannot_be_compared_is_refused() -> None:
    with pytest.raises(DataError, match="no query in common"):
        compare_rankings({"x": {"1": listed("a")}, "y": {"2": listed("a")}})
    with pytest.raises(DataError, match="needs two runs"):
        compare_rankings({"x": {"1": listed("a")}})
    with pytest.raises(ParameterError, match="p must lie between"):
        rank_biased_overlap(listed("a"), listed("a"), p=1.0)
    with pytest.raises(ParameterError, match="at least 1"):
        jaccard(listed("a"), listed("a"), k=0)


def test_the_command_prints_pairs_or_a_matrix(tmp_path, capsys) -> None:
    files = []
    for name, documents in {"a": "xyz", "b": "xzy", "c": "zyx"}.items():
        rows = [f"q Q0 {d} {r} {-r} t" for r, d in enumerate(documents, 1)]
        (tmp_path / f"{name}.run").write_text("\n".join(rows) + "\n")
        files.append(str(tmp_path / f"{name}.run"))
    for words, code, text in (
        (files[:2], 0, "tau-ap"),
        ([*files, "--matrix", "jaccard", "-k", "1"], 0, "jaccard@1"),
        ([*files, "--json"], 0, '"rbo-min"'),
        ([*files, "--matrix", "x"], 2, "expected one of rbo"),
        (files[:1], 2, "Two different runs"),
    ):
        with pytest.raises(SystemExit) as stop:
            app(["similarity", *words])
        printed = capsys.readouterr()
        assert stop.value.code == code
        assert text in printed.out + printed.err
