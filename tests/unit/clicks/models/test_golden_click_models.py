"""The table of measures on the demonstration log of TianGong-ST, which is not part of the package."""

from pathlib import Path

import numpy as np
import pytest

from podium.clicks import fit, measure, read_clicks

DEMO = Path(__file__).parents[4] / "../shared/data/clicks/tiangong-st-demo"
pytestmark = pytest.mark.skipif(not DEMO.is_dir(), reason="the log is not here")

STEPS = "accelerate=false,iterations=50,tolerance=0"
# log-likelihood of an impression, perplexity, at rank 1, at rank 10, conditional perplexity
TABLE = {
    "gctr": (-0.255045, 1.307548, 1.80864, 1.11671, 1.307548),
    "rctr": (-0.237092, 1.278580, 1.61388, 1.11049, 1.278580),
    "dctr": (-0.408689, 1.508622, 1.79108, 1.42754, 1.508622),
    "dcm(closed=true)": (-0.420949, 1.306800, 1.79108, 1.14324, 1.527883),
    "sdbn(closed=true)": (-0.417486, 1.313226, 1.79108, 1.14686, 1.522215),
    f"pbm({STEPS})": (-0.228349, 1.266720, 1.59761, 1.11176, 1.266720),
    f"ubm({STEPS})": (-0.196940, 1.262454, 1.59750, 1.10918, 1.227520),
    f"dcm({STEPS})": (-0.417860, 1.308434, 1.79108, 1.14059, 1.523308),
    f"sdbn({STEPS})": (-0.414761, 1.313238, 1.79108, 1.14698, 1.518282),
    f"dbn({STEPS})": (-0.242834, 1.308445, 1.79033, 1.19026, 1.290869),
    f"ccm({STEPS})": (-0.226501, 1.295869, 1.76095, 1.13659, 1.269394),
}
SHARED = {
    f"pbm({STEPS})": [0.2874, 0.1857, 0.1416, 0.0943, 0.0674, 0.0511, 0.0434, 0.0286, 0.0289, 0.0245],
    f"ubm({STEPS})": [0.2873, 0.1300, 0.6176],
    f"dbn({STEPS})": [0.5891],
    f"ccm({STEPS})": [0.5442, 0.9943, 0.2096],
}


@pytest.fixture(scope="module")
def logs():
    train, test = (read_clicks(DEMO / f"{part}.jsonl", repeated="keep") for part in ("train", "test"))
    known = np.isin(test.query_ids, train.query_ids)
    return train, test.select(known[test.page_query])


def test_the_log_is_the_one_of_the_table(logs):
    train, test = logs
    assert (train.n_pages, train.n_pairs, test.n_pages) == (2872, 22609, 95)


@pytest.mark.parametrize("model", TABLE)
def test_measures_are_those_of_the_table(logs, model):
    train, test = logs
    fitted = fit(train, model)
    found = measure(fitted, test, preset="pyclick")
    ends = found.perplexity_at[0], found.perplexity_at[9]
    got = (found.log_likelihood, found.perplexity, *ends, found.conditional_perplexity)
    np.testing.assert_allclose(got, TABLE[model], rtol=0, atol=5.1e-6)
    np.testing.assert_allclose(got[:2], TABLE[model][:2], rtol=0, atol=5.1e-7)
    if model in SHARED:
        name = "continuation" if model.startswith(("dbn", "ccm")) else "examination"
        shared = fitted.params[name][: len(SHARED[model])]
        np.testing.assert_allclose(shared, SHARED[model], rtol=0, atol=5.1e-5)


def test_grades_of_judges_are_compared_with_relevance(logs):
    judged = read_clicks(DEMO / "judged.jsonl", repeated="keep")
    found = measure(fit(judged, "dbn"), judged)
    assert 0.5 < found.pair_accuracy < 0.7
    assert 0.5 < found.ndcg_at_10 < 1.0
