"""What every aggregator promises, run over the registry."""

import pytest

from podium.aggregation import Aggregator
from podium.testing import AGGREGATOR_CHECKS

VARIANTS = [
    "borda(combine=median)", "borda(combine=lp,p=3.0)", "combsum(normalise=zscore)", "combmnz(normalise=sum)",
    "copeland(unranked=skip)", "footrule(unranked=skip)", "kemeny(unranked=skip)", "mc1(unranked=skip)",
    "plackett-luce(unranked=skip)", "mc2(teleport=1e-06)", "rrf(k=0.0)", "comb(how=min)", "comb(how=max)",
    "comb(how=anz,normalise=rank)", "comb(how=median,normalise=max)", "isr(log=true,sigma=1.0)",
    "combsum(normalise=borda)", "combmnz(normalise=borda)", "kwiksort(unranked=skip)",
]  # fmt: skip
AGGREGATORS = [cls() for cls in Aggregator.catalogue().values()] + list(map(Aggregator.parse, VARIANTS))


@pytest.mark.parametrize("aggregator", AGGREGATORS, ids=repr)
@pytest.mark.parametrize("check", AGGREGATOR_CHECKS.values(), ids=lambda check: check.__name__)
def test_every_aggregator_keeps_its_promises(check, aggregator):
    check(aggregator)


def test_an_aggregator_that_favours_a_name_is_noticed():
    class ByName(type(Aggregator.parse("borda"))):
        def one(self, query):
            return super().one(query) + 0.1 * (query.document_ids == "A")

    with pytest.raises(AssertionError, match="scores of renamed documents"):
        AGGREGATOR_CHECKS["names_of_documents_do_not_matter"](ByName())
