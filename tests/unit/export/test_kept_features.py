"""Models of kept features in other engines: proven, over all features of the data."""

import numpy as np
import pytest

from podium.base.errors import IncompatibleError
from podium.data.synthetic import make_letor_like
from podium.export import Target, prove
from podium.training import train

DATA = make_letor_like(30, (8, 15), n_features=8, seed=5)[0]
NAMES = tuple(f"f{l}" for l in range(1, 9))
CASES = [
    ("listnet(transform=keep(count=3))", ["python", "solr", "elasticsearch-ltr", "ranklib", "vespa"]),
    ("listnet(transform=keep(of=identity,only=[2,7]))", ["python", "solr"]),
    ("listnet(transform=keep(of=minmax,only=[2,7]))", ["python"]),
    ("listnet(scorer=mlp(hidden=[4]),transform=keep(count=3),epochs=2)", ["python"]),
    (
        "lambdamart(rounds=4,min_data_in_leaf=3,transform=keep(of=identity,only=[1,4,8]))",
        ["python", "xgboost", "vespa"],
    ),
    ("lambdamart(rounds=4,min_data_in_leaf=3,transform=keep(count=3))", ["python", "xgboost", "solr"]),
    ("rankboost(rounds=5,transform=keep(of=identity,only=[3,5]))", ["python", "xgboost"]),
    ("listnet(transform=keep(count=4,of=second-order(correlation=0.02)))", ["python"]),
]


@pytest.mark.parametrize(("method", "name"), [(method, name) for method, names in CASES for name in names])
def test_a_model_of_kept_features_is_exported_and_proven(method, name):
    model = train(DATA, method)
    target = Target.parse(name)
    exportable = target.accept(model)
    proof = prove(exportable, target.write(exportable), target, data=DATA)
    assert proof.holds, proof.differences


def test_a_choice_below_another_transform_is_refused():
    model = train(DATA, "listnet(transform=second-order(of=keep(count=3),correlation=0.02))")
    with pytest.raises(IncompatibleError, match="does not support the transform"):
        Target.parse("python").accept(model)


def test_the_names_are_those_of_all_features():
    model = train(DATA, "listnet(transform=keep(only=[2,7]))")
    assert len(Target.parse("python").accept(model).names) == 8
    assert np.flatnonzero(model.coefficients()).tolist() == [1, 6]
