"""Commands killed at random moments and run again; `python -m benchmarks.kills` is the large version."""

import os
import signal

import pytest
from benchmarks.kills import prepare, trial

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kills")
    prepare(folder / "input")
    return folder


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no kill -9 here")
@pytest.mark.parametrize("name", ["index", "cache", "train"])
def test_killed_and_run_again_a_command_leaves_what_it_leaves_undisturbed(place, name):
    assert trial(place, name, kills=2, seed=3, undisturbed=1)[1] == 2
    assert not [file for file in os.listdir(place / "work") if file.startswith(".")]
