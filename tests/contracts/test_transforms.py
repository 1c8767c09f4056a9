"""What every transform promises, run over the registry."""

import pytest

from podium.testing import TRANSFORM_CHECKS, variants
from podium.transforms import Transform

TRANSFORMS = [transform for cls in Transform.catalogue().values() for transform in variants(cls)]


@pytest.mark.parametrize("transform", TRANSFORMS, ids=repr)
@pytest.mark.parametrize("check", TRANSFORM_CHECKS.values(), ids=lambda check: check.__name__)
def test_every_transform_keeps_its_promises(check, transform):
    check(transform)
