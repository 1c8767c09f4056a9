"""A function that other compiled functions call is compiled as a piece of them, and again when Python calls it."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest
from numba.core import event
from numba.core.caching import NullCache
from numba.core.registry import CPUDispatcher

from podium.compiled import address, compiled, function_at, vectorised
from podium.dispatcher import Dispatcher

POINT = "float64(float64)"
_at = function_at(POINT)


@pytest.fixture
def pair() -> tuple[Any, Any]:
    """A compiled function, and one that calls it."""

    @compiled
    def half(x: Any) -> Any:
        return 0.5 * x

    @compiled
    def quarter(x: Any) -> Any:
        return half(half(x))

    half.made._cache = quarter.made._cache = NullCache()  # type: ignore[attr-defined]
    return half, quarter


def test_a_function_can_be_called_from_python_before_and_after_it_is_a_piece_of_another(pair: Any) -> None:
    half, quarter = pair
    assert quarter(8.0) == 2.0
    assert half(8.0) == 4.0
    assert quarter(8) == 2.0  # another signature, of both
    assert half(4.0) == 2.0
    assert half(8) == 4.0


def test_a_piece_is_neither_machine_code_nor_known_to_python_calls(pair: Any) -> None:
    half, quarter = pair
    quarter(8.0)
    (piece,) = half.overloads.values()
    assert not callable(piece.entry_point)
    assert piece.library.get_pointer_to_function(piece.fndesc.llvm_func_name) == 0
    half(8.0)
    (entry,) = half.overloads.values()
    assert callable(entry.entry_point)


def test_the_address_of_a_function_that_was_a_piece_can_be_called(pair: Any) -> None:
    half, quarter = pair
    quarter(8.0)

    @compiled
    def call(where: Any, x: Any) -> Any:
        return _at(where)(x)

    assert call(address(half, POINT), 3.0) == 1.5


def test_a_sum_that_may_be_reordered_has_the_same_bits_as_a_piece_and_as_an_entry() -> None:
    @vectorised
    def total(x: Any) -> Any:
        found = 0.0
        for i in range(len(x)):
            found += x[i] * x[i]
        return found

    @compiled
    def shifted(x: Any) -> Any:
        return total(x[1:])

    shifted.made._cache = NullCache()  # type: ignore[attr-defined]
    x = np.random.default_rng(0).lognormal(sigma=3.0, size=10_001)
    assert shifted(x) == total(x[1:])
    assert shifted(x) != sum(v * v for v in x[1:])  # reordered


def test_a_function_that_calls_itself_is_compiled() -> None:
    @compiled
    def factorial(n: Any) -> Any:
        if n <= 1:
            return 1
        return n * factorial(n - 1)

    @compiled
    def doubled(n: Any) -> Any:
        return 2 * factorial(n)

    assert factorial(5) == 120
    assert doubled(5) == 240


def test_functions_of_numba_are_pieces_too_and_other_code_is_compiled_as_ever() -> None:
    made: list[Any] = []

    class Listener(event.Listener):  # type: ignore[misc]
        def on_start(self, seen: Any) -> None:
            made.append(seen.data["dispatcher"])

        def on_end(self, seen: Any) -> None: ...

    @compiled
    def lower(x: Any) -> Any:
        return min(np.int8(x), np.int16(x))  # kinds that nothing else compares

    lower.made._cache = NullCache()  # type: ignore[attr-defined]
    with event.install_listener("numba:compile", Listener()):
        assert lower(3) == 3
    assert [type(one) for one in made] == [Dispatcher, Dispatcher]  # the function, and numba's min
    (piece,) = made[1].overloads.values()
    assert not callable(piece.entry_point)
    assert type(numba.njit(lambda x: x)) is CPUDispatcher
