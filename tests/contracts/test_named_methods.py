"""What every named method promises, run over the table of methods; what is asked of its learner is in test_learners."""

import pytest

from lanes import few
from podium.methods import METHODS
from podium.testing import METHOD_CHECKS


@pytest.mark.parametrize("name", few(METHODS, ("listnet", "lambdamart", "adarank-map")))
@pytest.mark.parametrize("check", METHOD_CHECKS.values(), ids=lambda check: check.__name__)
def test_every_method_keeps_its_promises(check, name):
    check(METHODS[name])
