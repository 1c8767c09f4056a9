"""Query features of a request: the scores of the model, an error that names what is missing."""

from dataclasses import replace

import numpy as np
import pytest

import podium
from podium.data.query_values import category_number
from podium.testing import linear_data

DATA = linear_data(12, 8)
MARKETS = np.array([[category_number(("de", "uk")[q % 2]), q % 3] for q in range(12)])
WHOLE = replace(DATA, query_features=MARKETS, query_feature_names=("market", "length"))
DOCUMENTS = [{"features": row} for row in DATA.features[:8].tolist()]


@pytest.fixture
def served(start, tmp_path):
    podium.train(WHOLE, "listnet(transform=shared)").save(tmp_path / "shop.podium")
    podium.train(DATA, "listnet").save(tmp_path / "plain.podium")
    return start(models=(str(tmp_path / "shop.podium"), str(tmp_path / "plain.podium")), shelf=str(tmp_path / "shelf"))


def test_the_market_of_a_request_is_that_of_the_scores(served, tmp_path):
    model, scores = podium.load(tmp_path / "shop.podium"), {}
    for market in ("de", "uk", "jp", 7.5):
        body = {"model": "shop", "documents": DOCUMENTS, "query_features": {"market": market, "unused": 1}}
        results = served("POST", "/v1/rank", body).json["results"]
        scores[market] = [result["score"] for result in sorted(results, key=lambda result: result["index"])]
        about = np.array([[category_number(str(market)), 0.0]])
        assert scores[market] == model.score(replace(WHOLE.select([0]), query_features=about)).tolist()
    assert scores["de"] != scores["uk"]
    assert scores["jp"] == scores[7.5]  # both new


def test_a_request_without_them_is_told_what_to_send(served):
    answer = served("POST", "/v1/rank", {"model": "shop", "documents": DOCUMENTS})
    assert answer.status == 422
    assert answer.json["detail"].startswith("shop@1 needs the query feature 'market': send \"query_features\"")
    assert served("POST", "/v1/rank", {"model": "plain", "documents": DOCUMENTS}).status == 200
    question = {"model": "shop", "pair": ["0", "1"], "documents": DOCUMENTS}
    assert served("POST", "/v1/explain", question).status == 422


def test_models_that_read_them_take_turns_under_an_alias(served):
    for model in ("plain", "shop", "plain"):
        served("POST", "/v1/rank", {"model": "plain", "documents": DOCUMENTS})
        assert served("PUT", "/v1/aliases/live", {"model": model}).status in (200, 201), model
