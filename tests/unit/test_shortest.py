"""Numbers are written as Python and numpy write them, digit by digit, and read back as the same bits."""

from decimal import Decimal

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from podium.compiled import compiled
from podium.decimals import decimal
from podium.shortest import doubles, singles
from podium.text_bytes import place_of

ODD = [
    0.0,
    -0.0,
    5e-324,
    2.0**-44,
    2.0**-1022,
    1e16,
    1e15,
    9007199254740993.0,
    1e-4,
    1e-5,
    0.1 + 0.2,
    1.7976931348623157e308,
]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.one_of(st.floats(), st.decimals(-1000, 1000, places=3).map(float)), max_size=20))
@example([*ODD, *(2.0**k for k in range(-80, 80)), *(10.0**k for k in range(-25, 25)), float("nan"), float("-inf")])
def test_doubles_are_written_as_repr_writes_them(numbers):
    assert doubles(np.array(numbers, np.float64)).tolist() == [repr(x) for x in numbers]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.one_of(st.floats(width=32), st.decimals(-1000, 1000, places=3).map(float)), max_size=20))
@example(
    [
        1e-4,
        1e-45,
        1.17549435e-38,
        16777216.0,
        1e6,
        *(2.0**k for k in range(-149, 127)),
        *(10.0**k for k in range(-37, 38)),
    ]
)
def test_singles_have_the_digits_that_numpy_finds(numbers):
    values = np.array(numbers, np.float32)
    for written, x in zip(singles(values).tolist(), values, strict=True):
        assert written == str(x) or Decimal(written) == Decimal(str(x)), (written, x)
        assert np.float32(written) == x or np.isnan(x)


@compiled
def read(text):
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
    value, end = read(np.frombuffer(text.encode() + b"\n" + bytes(16), np.uint8))
    if end >= 0:
        assert end == len(text)
        assert (value, np.signbit(value)) == (float(text), np.signbit(float(text)))
    else:
        assert abs(float(text)) > 1e280 or abs(float(text)) < 1e-280 or len(text) > 19
