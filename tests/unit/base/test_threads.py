"""Matrix products stay on one thread each, whichever library makes them."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

BLAS = """
from threadpoolctl import threadpool_info

def blas():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]
"""
LATER = """
import numpy as np
from podium.base.threads import one_blas_thread
with one_blas_thread():
    pass
before = blas()
import scipy.linalg
with one_blas_thread():
    print(blas())
print(before, blas())
"""
FIRST_FIT = """
from podium.testing import linear_data
from podium.training import train
limits = []
train(linear_data(), "listnet", observers=(lambda step: limits.append(blas()),))
print(limits[0])
"""


def printed(program: str) -> list[str]:
    """Lines of a program of its own, where the libraries start with two threads."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OPENBLAS_NUM_THREADS": "2"}
    done = subprocess.run(
        [sys.executable, "-c", BLAS + program], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


@pytest.mark.parametrize("program", [LATER, FIRST_FIT], ids=["loaded later", "loaded for the first fit"])
def test_a_library_that_is_loaded_late_is_kept_on_one_thread_too(program: str) -> None:
    assert set(printed(program)[0].strip("[]").split(", ")) == {"1"}


def test_threads_are_given_back() -> None:
    before, after = printed(LATER)[1].strip("[]").split("] [")
    assert set(after.split(", ")) == set(before.split(", "))
