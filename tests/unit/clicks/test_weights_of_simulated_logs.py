"""Weights of simulated logs are the relevance that people clicked by, however and how often documents were shown."""

import json
import warnings

import numpy as np
import pytest

from podium.clicks import Propensities, read_clicks, weights
from podium.data import Dataset

RELEVANCE = np.array([0.9, 0.5, 0.3, 0.1, 0.7])
THETA = 1 / np.arange(1, 6)
EXAMINED = Propensities.of_theta(THETA, how="true")
TRUST = Propensities(np.arange(1, 6), THETA, THETA, THETA, 0.7 * THETA, 0.2 * THETA, "trust")
BASE = np.array([0.0, 2.0, 1.5, 0.4, 0.2])  # of the ranker in production, which is wrong
OTHER = np.array([1.0, 0.1, 0.9, 0.3, 0.5])


def logged(pages_a_query, queries, *, policy, curve=EXAMINED, seed=0):
    """Queries of the same five documents with their pages; a policy gives the documents of a page, from the top,
    their propensities or None, and the name of the ranker or None."""
    rng = np.random.default_rng(seed)
    pages = []
    for q in range(queries):
        for _ in range(pages_a_query):
            order, propensities, ranker = policy(rng)
            chance = curve.alpha[: len(order)] * RELEVANCE[order] + curve.beta[: len(order)]
            clicks = 1 + np.flatnonzero(rng.random(len(order)) < chance)
            more = {"propensities": propensities} if propensities is not None else {}
            more |= {"ranker": ranker} if ranker is not None else {}
            pages.append({"query": str(q), "documents": [f"d{d}" for d in order], "clicks": clicks.tolist(), **more})
    return pages


def one_ranking(rng):
    return np.argsort(-BASE), None, "A"


def filtered(rng):
    """Every document is out of stock on half of the pages, by chance: those below move up."""
    order = np.argsort(-BASE)[rng.random(5) < 0.5]
    return (order if len(order) else np.argsort(-BASE)[:1]), None, None


def two_rankers(rng):
    which = int(rng.integers(2))
    return np.argsort(-(BASE, OTHER)[which])[:3], None, "AB"[which]


def drawn(rng):
    """A Plackett–Luce ranker that logs the probability of each document at its rank, given those above."""
    left, order, propensities = list(range(5)), [], []
    while len(order) < 3:
        chance = np.exp(BASE[left])
        chance /= chance.sum()
        at = int(rng.choice(len(left), p=chance))
        propensities.append(float(chance[at]))
        order.append(left.pop(at))
    return np.array(order), propensities, None


@pytest.mark.parametrize("policy", [one_ranking, filtered, two_rankers, drawn])
@pytest.mark.parametrize("pages_a_query", [1, 6])
@pytest.mark.parametrize("curve", [EXAMINED, TRUST], ids=["examination", "trust"])
def test_the_mean_weight_of_what_was_shown_is_its_relevance(policy, pages_a_query, curve, tmp_path):
    queries = 1200 // pages_a_query
    found = means(logged(pages_a_query, queries, policy=policy, curve=curve), queries, curve, tmp_path)
    apart = (found[0] - RELEVANCE) / found[1]
    assert np.abs(apart[found[2] > 30]).max() < 4, found


def means(pages, queries, curve, tmp_path):
    """Mean and standard error over queries of the weights of documents that were shown, and how many were."""
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(page) + "\n" for page in pages))
    log = read_clicks(path)
    ids = [str(q) for q in range(queries) for _ in range(5)]
    data = Dataset.from_arrays(np.zeros((5 * queries, 1)), qid=ids, document_ids=[f"d{d}" for d in range(5)] * queries)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # documents never shown
        made = weights(log, curve, data).data
    shown = (log.find_pairs(made.query_ids[made.query_index], made.document_ids) >= 0).reshape(queries, 5)
    values, n = made.document_weights.reshape(queries, 5), shown.sum(axis=0)
    mean = (values * shown).sum(axis=0) / np.maximum(n, 1)
    variance = ((values - mean) ** 2 * shown).sum(axis=0) / np.maximum(n, 1)
    return mean, np.sqrt(variance / np.maximum(n, 1)), n


def test_pages_on_which_a_document_is_rarely_shown_count_as_much_by_their_propensities(tmp_path):
    """A ranker that knows its people shows the first document to those who like it; its mean relevance is 0.5."""
    rng, pages = np.random.default_rng(3), []
    for query in range(150):
        for _ in range(40):
            likes = rng.random() < 0.5
            p = 0.9 if likes else 0.1
            first = 0 if rng.random() < p else 1
            shown = [p, p] if first == 0 else [1 - p, 1 - p]
            relevance = np.array([0.8 if likes else 0.2, 0.4])[[first, 1 - first]]
            clicks = 1 + np.flatnonzero(rng.random(2) < THETA[:2] * relevance)
            documents = [f"d{first}", f"d{1 - first}"]
            pages.append(
                {"query": str(query), "documents": documents, "clicks": clicks.tolist(), "propensities": shown}
            )
    mean, error, _ = means(pages, 150, EXAMINED, tmp_path)
    assert np.abs(mean[:2] - [0.5, 0.4]).max() < 4 * error[:2].max() < 0.1
    for page in pages:
        del page["propensities"]
    assert means(pages, 150, EXAMINED, tmp_path)[0][0] > 0.55  # the exposure of those who like it counts most
