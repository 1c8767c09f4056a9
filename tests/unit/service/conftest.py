"""Two models and a client of a service that has them."""

import numpy as np
import pytest

import asgi
import podium
from podium.service.app import build
from podium.service.settings import Settings

NAMES = ["bm25", "title", "age"]


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    """Files web.podium (linear, with odds), trees.podium and plain.podium (no names of features)."""
    folder = tmp_path_factory.mktemp("models")
    data, _ = podium.make_letor_like(30, (5, 12), n_features=4, seed=1)
    data = data.with_features(np.ascontiguousarray(data.features[:, :3]), None)
    named = data.with_features(data.features, tuple(NAMES))
    podium.train(named, "listmle(epochs=5)").save(folder / "web.podium")
    podium.train(named, "lambdamart(rounds=10,num_leaves=4,min_data_in_leaf=1)").save(folder / "trees.podium")
    podium.train(data, "regression").save(folder / "plain.podium")
    return folder


@pytest.fixture
def start(tmp_path):
    """Start a service; it is closed when the test ends."""
    started = []

    def make(**settings):
        app = build(Settings(**settings))
        started.append(app.state.podium)
        return asgi.Client(app)

    yield make
    for state in started:
        state.close()


@pytest.fixture
def client(start, models):
    return start(models=(str(models / "web.podium"), str(models / "trees.podium"), str(models / "plain.podium")))
