import math

import numpy as np
import pytest
from idf_share import IDFShare

from podium.testing import check_feature
from podium.text.context import Context
from podium.text.index.index import Index


def test_it_keeps_the_promises_of_a_feature():
    check_feature(IDFShare())
    check_feature(IDFShare(field="title"))


def test_a_rare_term_counts_more_than_a_frequent_one(tmp_path):
    texts = {"a": "steel wing", "b": "steel", "c": "wing", "d": "steel flow"}
    index = Index.create(tmp_path / "index", [{"id": id, "text": text} for id, text in texts.items()])
    context = Context(index, index.query("steel wing"), index.numbers(list(texts)), np.zeros(4))
    steel, wing = math.log(4 / 3), math.log(4 / 2)
    expected = [1.0, steel / (steel + wing), wing / (steel + wing), steel / (steel + wing)]
    assert IDFShare().values(context) == pytest.approx(expected)
