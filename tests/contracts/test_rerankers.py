"""What every re-ranker promises, run over the registry."""

import pytest

from podium.rerankers import Reranker
from podium.testing import RERANKER_CHECKS, instances

CASES = [reranker for cls in Reranker.catalogue().values() for reranker in instances(cls)]


@pytest.mark.parametrize("reranker", CASES, ids=repr)
@pytest.mark.parametrize("check", RERANKER_CHECKS.values(), ids=lambda check: check.__name__)
def test_every_reranker_keeps_its_promises(check, reranker):
    check(reranker)
