"""Partial lists: 25 engines that each list a fifth of the documents; every method's default must make use of them."""

import functools

import numpy as np
import pytest

from podium.aggregation import PMOP, Aggregator
from podium.aggregation.rankings.metasearch import make_metasearch
from podium.aggregation.rankings.rankings import Rankings
from podium.base.errors import CostWarning
from podium.evaluation.evaluate import evaluate_run

SLOW = {"pmop"}
ELECTIONS = {"irv"}  # first places alone decide who leaves


@functools.cache
def voted():
    """Rankings of 25 voters, and judgments."""
    return make_metasearch(20, noises=np.geomspace(0.7, 5.0, 25), documents=60, depth=12, seed=1)


def ndcg(method: str) -> float:
    rankings, qrels = voted()
    return float(evaluate_run(qrels, Aggregator.parse(method)(rankings).run(), ["ndcg@10"]).values[0].mean())


def test_most_documents_are_left_out_by_each_voter():
    shares = [len(query.documents) / (query.n_documents * query.n_voters) for query in voted()[0]]
    assert 0.15 < np.mean(shares) < 0.25


@pytest.mark.slow
@pytest.mark.parametrize("method", sorted(set(Aggregator.catalogue()) - SLOW - ELECTIONS))
def test_by_default_every_method_is_about_as_good_as_borda(method):
    assert ndcg(method) > ndcg("borda") - 0.05


@pytest.mark.parametrize("method", ["mc4", "plackett-luce", "footrule", "copeland"])
def test_lists_that_are_cut_do_say_something_of_what_they_leave_out(method):
    assert ndcg(f"{method}(unranked=skip)") < ndcg(method) - 0.1


def test_work_that_takes_long_is_announced_before_it_starts(monkeypatch):
    def stop(self, query):
        raise KeyboardInterrupt

    monkeypatch.setattr(PMOP, "one", stop)
    long = Rankings.from_orders([[list(range(9)), None], [list(range(60)), list(range(5))]], query_ids=["p", "q"])
    with (
        pytest.warns(CostWarning, match=r"^pmop: 1 of 2 queries have more than 50 documents \(query q has 60\)"),
        pytest.raises(KeyboardInterrupt),
    ):
        PMOP()(long)
