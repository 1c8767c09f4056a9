"""Models inside a model's parameters, from files that nobody vouches for."""

import numpy as np
import pytest

import podium
from podium.base.errors import ModelFileError
from podium.ensembles.packing import pack, unpack
from podium.testing import linear_data


def test_models_come_back_with_the_same_scores():
    data = linear_data(8, 5)
    models = [podium.train(data, method) for method in ("listnet", "regression")]
    again = unpack(pack(models), 2, most_features=data.n_features)
    for model, other in zip(models, again, strict=True):
        np.testing.assert_array_equal(other.score(data), model.score(data))


def test_what_is_nested_too_deeply_is_refused_in_words():
    for text in (b"[" * 200_000, b'{"a":' * 200_000, b"{", b"7"):
        with pytest.raises(ModelFileError):
            unpack({"0/head": np.frombuffer(text, np.uint8)}, 1, most_features=5)
    deep = {"0/" + "params/0/" * 5000 + "head": np.zeros(1, np.uint8)}
    with pytest.raises(ModelFileError, match="more than 20 deep"):
        unpack(deep, 1, most_features=5)
