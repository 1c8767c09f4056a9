"""What a report shows of a model, and where it can be exported to, for every method."""

import json
from dataclasses import replace

import numpy as np
import pytest

from podium.base.errors import IncompatibleError
from podium.data.fold import Fold
from podium.evaluation.details import History, details
from podium.evaluation.evaluate import all_plain
from podium.export import Target, prove
from podium.methods import METHODS, method
from podium.metrics import NDCG
from podium.testing import linear_data
from podium.testing.examples import short
from podium.training import train

pytestmark = pytest.mark.slow

REFUSED = {  # by every engine that scores one document at a time
    "mcrank", "mcrank-ordinal", "sortnet", "structrank", "c-crf", "random",  # neither trees nor linear
    "pmop-fd", "adarank-map", "adarank-ndcg",  # scaled within each query
    "ranking-svm-kernel", "ranknet(transform=second-order)", "lambdamart(transform=nystrom)",  # mixed features
}  # fmt: skip
FOLD = Fold(linear_data(20, 10), linear_data(6, 8, seed=1), linear_data(6, 9, seed=2), "Fold1")


@pytest.mark.parametrize("name", [*METHODS, "ranknet(transform=second-order)", "lambdamart(transform=nystrom)"])
def test_every_model_has_its_details_and_is_exported_in_the_same_order_or_refused(name):
    chosen, history = method(name), History()
    model = train(
        FOLD.train, replace(chosen, learner=short(chosen.learner, 10), grid={}), valid=FOLD.valid,
        observers=(history.record,),
    )  # fmt: skip
    found = details(model, FOLD, model.score(FOLD.test), metrics=(NDCG(10),), history=history)
    json.dumps(all_plain(found), allow_nan=False)
    assert [len(curve["values"]) for curve in found["curves"].values()] == [20, 20, 20]
    shares = (found["importance"] or {"features": {}})["features"]
    assert set(shares) <= {str(l + 1) for l in range(FOLD.train.n_features)}
    assert sum(shares.values()) <= 1 + 1e-9
    for pair in found["pairs"]:
        explained = sum(one["share"] for one in pair["features"]) + pair["others"] + pair["rest"]
        assert explained == pytest.approx(pair["difference"], abs=1e-9)
        assert np.sign(pair["difference"]) >= 0
    for target in ("elasticsearch-ltr", "vespa", "solr"):
        if name in REFUSED:
            with pytest.raises(IncompatibleError, match=r"Train (e\.g\.|with)"):
                Target.parse(target).accept(model)
            continue
        chosen = Target.parse(target)
        given = chosen.accept(model)
        proof = prove(given, chosen.write(given), chosen, data=FOLD.test)
        assert proof.holds
        assert proof.orders.changed == proof.orders.tied == 0
