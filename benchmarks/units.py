"""Times with their units, for readers: 0.129 µs, 7.45 ms, 1.27 s."""

from __future__ import annotations


def shown(seconds: float) -> str:
    """Three digits and a unit."""
    scale, unit = scale_of(seconds)
    return f"{digits(seconds * scale)} {unit}"


def scale_of(seconds: float) -> tuple[float, str]:
    """The largest unit in which the time, as it is shown, is at least 1, or microseconds; and how many a second has."""
    units = [(1.0, "s"), (1e3, "ms"), (1e6, "µs")]
    return next(((scale, unit) for scale, unit in units if float(f"{seconds * scale:.3g}") >= 1), units[-1])


def digits(number: float) -> str:
    """Three digits, without an exponent."""
    return f"{number:.3g}" if number < 999.5 else f"{number:,.0f}"
