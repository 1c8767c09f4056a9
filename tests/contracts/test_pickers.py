"""What every picker promises, run over the registry."""

import pytest

from podium.pickers import Picker
from podium.testing import PICKER_CHECKS, instances

CASES = [picker for cls in Picker.catalogue().values() for picker in instances(cls)]


@pytest.mark.parametrize("picker", CASES, ids=repr)
@pytest.mark.parametrize("check", PICKER_CHECKS.values(), ids=lambda check: check.__name__)
def test_every_picker_keeps_its_promises(check, picker):
    check(picker)
