"""Kernels as plain Python (NUMBA_DISABLE_JIT=1): the same numbers as compiled, without a warning."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernel_sample import close, exact
from podium.jit.compiled import interpret, is_interpreted
from podium.jit.lanes import clear_leaves, trailing_zeros
from podium.jit.memory import bytes_before, leading_zeros, place_of, put_word, word
from podium.jit.views import view

SAMPLE = Path(__file__).parents[2] / "kernel_sample.py"


@pytest.fixture(scope="module")
def plain() -> dict[str, Any]:
    """The sample in a process that compiles nothing."""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        [sys.executable, "-W", "error", str(SAMPLE)], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    numbers: dict[str, Any] = json.loads(done.stdout)
    return numbers


@pytest.mark.skipif(is_interpreted(), reason="there is no compiled function to compare with")
def test_plain_kernels_give_the_same_bits_where_sums_have_one_order(plain: dict[str, Any]) -> None:
    assert plain["exact"] == exact()


@pytest.mark.skipif(is_interpreted(), reason="there is no compiled function to compare with")
def test_plain_kernels_give_the_same_numbers(plain: dict[str, Any]) -> None:
    for name, numbers in close().items():
        np.testing.assert_allclose(plain["close"][name], numbers, rtol=1e-12, atol=1e-12, err_msg=name)


def test_numba_is_not_imported_by_plain_kernels() -> None:
    code = "import sys; from podium.jit.sorting import order; print(order([1.0, 3.0, 2.0]), 'numba' in sys.modules)"
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "[1 2 0] False\n"


ARRAY = np.arange(16.0)
BYTES = np.zeros(24, np.uint8)
NODES = (np.zeros(1, np.int32), np.zeros(1, np.float32), np.zeros(1, np.uint32))


@pytest.mark.parametrize(
    "beyond",
    [
        lambda: plain_form(view)(ARRAY, 3, 17),
        lambda: plain_form(view)(ARRAY, -1, 3),
        lambda: plain_form(view)(ARRAY[::2], 0, 3),
        lambda: plain_form(word)(plain_form(place_of)(BYTES) + 17),
        lambda: plain_form(put_word)(plain_form(place_of)(BYTES) - 1, 0),
        lambda: plain_form(clear_leaves(8))(np.zeros(8, np.uint32), np.zeros((1, 8), np.float32), *NODES, 0, 2),
        lambda: plain_form(clear_leaves(8))(np.zeros(7, np.uint32), np.zeros((1, 7), np.float32), *NODES, 0, 1),
        lambda: plain_form(clear_leaves(8))(np.zeros(8, np.uint32), np.zeros((0, 8), np.float32), *NODES, 0, 1),
    ],
)
def test_plain_forms_of_what_reads_memory_check_where(beyond: Any) -> None:
    with pytest.raises(AssertionError):
        beyond()


def plain_form(function: Any) -> Any:
    return function.py_func


def test_plain_forms_count_bits() -> None:
    assert [plain_form(trailing_zeros)(np.uint32(x)) for x in (1, 8, 0)] == [0, 3, 32]
    assert [plain_form(leading_zeros)(np.uint64(x)) for x in (0, 1, 2**63)] == [64, 63, 0]
    assert [plain_form(bytes_before)(np.uint64(x)) for x in (0, 1, 2**20, 2**63)] == [8, 0, 2, 7]


def test_a_division_by_zero_is_infinite_as_in_compiled_code() -> None:
    assert interpret(lambda x: 1.0 / x, 0.0) == math.inf
