"""Decimals, and the short ones of up to nine bytes: the number that Python reads, or none."""

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from podium.jit.compiled import compiled
from podium.jit.memory import place_of
from podium.parsing.decimals import decimal, nine_bytes
from podium.parsing.words import SPARE


@compiled
def _read(text):
    base = place_of(text)
    value, past = nine_bytes(base)
    return value, past - base if past > 0 else -1


def read(word: bytes) -> tuple[float, int]:
    return _read(np.frombuffer(bytearray(word + b" 7:1.5\n" + bytes(SPARE)), np.uint8))


@settings(max_examples=400, deadline=None)
@given(st.from_regex(r"-?[0-9]{0,9}\.?[0-9]{0,8}", fullmatch=True).map(str.encode))
@example(b"0.177567")
@example(b"-51.56486")
@example(b"12345678.")
@example(b".12345678")
@example(b"-.5")
@example(b"99999999")
@example(b"100000000")
@example(b"123456789")
@example(b"0.00000000")
def test_short_decimals_are_the_numbers_that_python_reads(word):
    value, past = read(word)
    digits = sum(c in b"0123456789" for c in word)
    if past < 0:
        assert digits == 0 or digits > 8 or len(word) > 9 or word.find(b".") == 8
    elif past == len(word):
        assert (value, np.signbit(value)) == (float(word), word.startswith(b"-"))
    else:
        assert past == 9 < len(word)  # the caller sees that the token goes on


@pytest.mark.parametrize("word", [b"-", b".", b"1e5", b"nan", b"+1", b"1.2.3", b"--1", b"1-2", b"0x1", b"1,5", b"1#"])
def test_what_is_no_plain_short_decimal_is_left_to_others(word):
    assert read(word)[1] < 0


@compiled
def read_decimal(text):
    value, end = decimal(place_of(text))
    return value, end - place_of(text) if end >= 0 else -1


@settings(max_examples=500, deadline=None)
@given(
    st.one_of(
        st.floats(allow_nan=False, allow_infinity=False).map(repr),
        st.from_regex(r"[+-]?[0-9]{1,25}(\.[0-9]{0,25})?([eE][+-]?[0-9]{1,3})?", fullmatch=True),
        st.tuples(st.floats(1e-3, 1e6), st.integers(-3, 3)).map(  # halfway between two doubles, and near that
            lambda pair: str(
                (Decimal(pair[0]) + Decimal(float(np.nextafter(pair[0], 1e9)))) / 2 + Decimal(pair[1]).scaleb(-30)
            )
        ),
    )
)
@example("9007199254740993")
@example("0." + "0" * 40 + "123")
def test_a_decimal_is_read_as_its_nearest_double_or_left_to_python(text):
    value, end = read_decimal(np.frombuffer(text.encode() + b"\n" + bytes(16), np.uint8))
    if end >= 0:
        assert end == len(text)
        assert (value, np.signbit(value)) == (float(text), np.signbit(float(text)))
    else:
        assert abs(float(text)) > 1e280 or abs(float(text)) < 1e-280 or len(text) > 19
