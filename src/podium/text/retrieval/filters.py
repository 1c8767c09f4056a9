"""Filters on the fields of documents, for `Index.search(where=…)`.

    year>=1990      year!=1990      author=smith      kind in book,"short story"      doi exists

Operators are = != < <= > >= in exists. Numbers compare as numbers, true and false as 1 and 0, texts as texts, letter
for letter; for < <= > >=, texts that are numbers, as in tables, compare as numbers too. Quotes keep commas and spaces.
A list matches if one of its values does, and `!=` if none is equal. A document
without the field, or with an empty text or list there, never matches, not even `!=`.
"""

from __future__ import annotations

import bisect
import csv
import functools
import math
import operator
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from podium.base.arrays import Array, Flags, Ints
from podium.base.errors import ParameterError
from podium.text.index.stored_values import document_numbers, known_values, place

if TYPE_CHECKING:
    from podium.text.index.index import Index
    from podium.text.retrieval.base import Where

_SIGN = re.compile(r">=|<=|!=|=|>|<|!")
_IN = re.compile(r"\S\s+in\s")
_ORDERS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
_CACHED = 32
"""Arrays of numbers for which a filter caches its answer."""
_EXACT = 2**53
"""Whole numbers below this are exact as floating point; others compare as texts."""


@dataclass(frozen=True)
class Condition:
    """One condition on a field."""

    field: str
    sign: str  # one of = != < <= > >= in exists
    values: tuple[str, ...] = ()
    """The values to compare with; for `=` and `in`, any of them."""


def make_filter(index: Index, conditions: Iterable[str]) -> Where:
    """A filter: the documents, by their numbers, that satisfy all conditions.

    It follows changes of the index. A field that no document has is an error.
    """
    parsed = [read_condition(text) for text in conditions]

    def allowed() -> Flags:
        mask = np.ones(len(document_numbers(index)) + 1, np.bool_)
        for condition in parsed:
            mask[:-1] &= satisfied(index, condition)
        mask[-1] = False  # for the −1 of `place`
        return mask

    segments, mask = index.segments, allowed()
    cached: dict[int, tuple[Ints, Flags]] = {}

    def where(numbers: Ints) -> Flags:
        nonlocal segments, mask
        if segments is not index.segments:
            segments, mask = index.segments, allowed()
            cached.clear()
        asked, flags = cached.get(id(numbers), (None, mask))
        if asked is not numbers:  # searches ask for the same arrays again and again
            flags = mask[place(document_numbers(index), numbers)]
            if len(cached) >= _CACHED:
                cached.clear()
            cached[id(numbers)] = numbers, flags
        return flags

    return where


def absent_values(index: Index, conditions: Iterable[str]) -> list[str]:
    """The values that conditions compare with by = or in, and no document has, as in "brand = Embr"."""
    equal = [condition for text in conditions if (condition := read_condition(text)).sign in ("=", "in")]
    return [
        f"{condition.field} = {value}"
        for condition in equal
        for value in condition.values
        if not satisfied(index, Condition(condition.field, "=", (value,))).any()
    ]


def read_condition(text: str) -> Condition:
    """Parse a condition."""
    sign, within = _SIGN.search(text), _IN.search(text)
    if within is not None and (sign is None or within.start() < sign.start()):
        return Condition(text[: within.start() + 1].strip(), "in", tuple(_split(text[within.end() :].strip(), text)))
    field, value = (text, "") if sign is None else (text[: sign.start()].strip(), text[sign.end() :].strip())
    if sign is None and field.split()[-1:] == ["exists"] and len(field.split()) > 1:
        return Condition(field.strip().removesuffix("exists").strip(), "exists")
    if sign is None or sign[0] == "!" or not field:
        raise ParameterError(
            f"filter {text[:200]!r}: expected FIELD, one of = != < <= > >= and a value; FIELD in A,B; or FIELD exists."
        )
    if value[:1] in ("=", "<", ">", "!"):
        operator_ = sign[0] + value[0]
        raise ParameterError(f"filter {text!r}: no operator {operator_!r}. Use one of = != < <= > >= in exists.")
    if not value:
        raise ParameterError(f"filter {text!r}: a value is missing after {sign[0]}; FIELD exists needs none.")
    quoted = len(value) > 1 and value[0] == value[-1] == '"'
    return Condition(field, sign[0], (value[1:-1] if quoted else value,))


def _split(values: str, text: str) -> list[str]:
    """The values of a list with commas; those in quotes may hold commas."""
    try:
        (parts,) = csv.reader([values], skipinitialspace=True, strict=True)
    except (csv.Error, ValueError):
        parts = []
    if not parts or not all(value.strip() for value in parts):
        raise ParameterError(f"filter {text!r}: expected values with commas between them after in; got {values!r}.")
    return [value.strip() for value in parts]


@dataclass(frozen=True, eq=False)
class Column:
    """The E values of a field; a document with a list has several."""

    rows: Ints  # (E,) the document of each, in the order of numbers
    numbers: Array  # (E,) NaN for texts
    codes: Ints  # (E,) index of each text among the words; −1 for numbers
    words: list[str]  # sorted
    present: Flags  # (N,) whether a document has a value

    @functools.cached_property
    def as_numbers(self) -> Array:
        """The numbers that the words are, as in tables; NaN for others."""
        numbers = map(_number, self.words)
        return np.array([math.nan if number is None else number for number in numbers])


def satisfied(index: Index, condition: Condition) -> Flags:
    """Which documents satisfy a condition, in the order of numbers."""  # (N,)
    column = column_of(index, condition.field)
    if condition.sign == "exists":
        return column.present
    if not len(column.words) and len(column.rows):
        for value in condition.values:
            if _number(value) is None:
                raise ParameterError(f"filter: {condition.field} holds numbers; {value!r} is not a number.")
    hits = np.zeros(len(column.rows), np.bool_)
    for value in condition.values:
        order = _ORDERS.get(condition.sign)
        hits |= _equal(column, value) if order is None else _ordered(column, value, order)
    documents = np.zeros(len(column.present), np.bool_)
    documents[column.rows[hits]] = True
    return column.present & ~documents if condition.sign == "!=" else documents


def column_of(index: Index, field: str) -> Column:
    """The values of a field of all documents; a field that no document has is an error."""
    return index.kept(("column", field), lambda: _column(known_values(index, field)))


def _equal(column: Column, value: str) -> Flags:
    number, code = _number(value), bisect.bisect_left(column.words, value)
    equal: Flags = np.zeros(len(column.rows), np.bool_) if number is None else column.numbers == number
    if code < len(column.words) and column.words[code] == value:
        equal |= column.codes == code
    return equal


def _ordered(column: Column, value: str, order: Callable[[Any, Any], Any]) -> Flags:
    """Compare numbers as numbers and texts as texts; texts that are numbers, with a number, as numbers."""
    number, at = _number(value), bisect.bisect_left(column.words, value)
    between = 0.0 if column.words[at : at + 1] == [value] else 0.5  # two words, if it is none of them
    fits = order(np.arange(len(column.words)), at - between)
    if number is not None:
        fits = np.where(np.isnan(column.as_numbers), fits, order(column.as_numbers, number))
    hits: Flags = np.append(fits, False)[column.codes]
    if number is not None:
        hits |= order(column.numbers, number)  # False for NaN, which stands for a text
    return hits


def _column(values: list[Any]) -> Column:
    flat = [(k, part) for k, value in enumerate(values) for part in (value if isinstance(value, list) else [value])]
    flat = [(k, part) for k, part in flat if part is not None]
    texts = [None if _is_number(part) else part if isinstance(part, str) else str(part) for _, part in flat]
    words = sorted({text for text in texts if text is not None})
    code = {word: k for k, word in enumerate(words)}
    return Column(
        np.array([k for k, _ in flat], np.int64),
        np.array([float(part) if text is None else math.nan for (_, part), text in zip(flat, texts, strict=True)]),
        np.array([-1 if text is None else code[text] for text in texts], np.int64),
        words,
        np.array([value is not None for value in values], np.bool_),
    )


def _is_number(value: object) -> bool:
    return isinstance(value, float) or (isinstance(value, int) and abs(value) < _EXACT)


def _number(text: str) -> float | None:
    if text in ("true", "false"):
        return float(text == "true")
    try:
        value = float(text)
    except ValueError:
        return None
    return None if math.isnan(value) else value
