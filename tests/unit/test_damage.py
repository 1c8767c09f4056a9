"""Damaged files give an error in words or the same numbers; `python -m benchmarks.damage` is the large version."""

import pytest
from benchmarks.damage import TARGETS, trial


@pytest.mark.parametrize("target", TARGETS)
def test_damage_is_refused_or_changes_no_number(tmp_path, target):
    counts = trial(tmp_path, *TARGETS[target], mutations=60, seed=7)
    assert set(counts) <= {"same", "refused"}
    assert counts.total() == 60
    if target != "derived arrays":  # those are made again
        assert counts["refused"] > 20
