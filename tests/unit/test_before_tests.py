"""What happens before the first test."""

import pytest

from podium.jit.compiled import is_interpreted


@pytest.mark.skipif(is_interpreted(), reason="nothing is compiled")
def test_nothing_is_compiled_when_tests_are_collected(compiled_before_tests):
    assert not compiled_before_tests, "compile it within a test: each process of pytest-xdist collects all files"
