"""Kinds of fields: which fields of documents hold text to search, and which hold numbers, dates, URLs or ids.

    >>> documents = [{"id": 1, "name": "Tent for two", "price": 99.5, "photo": "https://shop.org/1.jpg"}]
    >>> field_kinds(documents, without=["id"])
    {'name': 'text', 'price': 'numbers', 'photo': 'URLs'}

It looks at values, of a sample of the documents, and in doubt takes a field for text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from podium.base.errors import DataError, ParameterError
from podium.text.collection.number_text import read_date, read_number

Kind = Literal["text", "numbers", "dates", "URLs", "ids", "lists"]
SAMPLE = 1000
"""The number of values, and of documents, that are looked at."""
TITLE = 3.0
"""The weight of the title of a catalogue."""
MOST_FIELDS = 1000
"""Fields of an index that are searched."""
_MOST = 0.9
"""The share of the values of a field that say what it is."""
_FEW = 20
"""With fewer values, a field of single words with digits is taken for text."""
_CODE = 8
"""Digits of equal number are a code from this number on, such as an EAN."""
_URL = re.compile(r"(?i)([a-z][a-z0-9+.-]*://|www\.)\S+|data:\S+|/?\S+\.(jpe?g|png|gif|webp|svg)")
_ID_NAMES = {"id", "ean", "gtin", "upc", "isbn", "sku", "asin", "barcode", "uuid", "guid"}


def field_kinds(documents: Iterable[Mapping[str, Any]], *, without: Sequence[str] = ()) -> dict[str, Kind]:
    """The kind of each field that has a value, in the order in which they occur."""
    values: dict[str, list[Any]] = {}
    for document in documents:
        for name, value in document.items():
            if name not in (*without, "links", "vector") and value not in (None, "", []) and value == value:
                sample = values.setdefault(str(name), [])
                if len(sample) < SAMPLE:
                    sample.append(value)
    return {name: _kind(name, sample) for name, sample in values.items()}


def searched_fields(documents: Sequence[Mapping[str, Any]], *, id: str | None, title: str = "title") -> tuple[str, ...]:
    """The fields to search by default: title and text, else all fields of text, the title first."""
    kinds = field_kinds(documents, without=[] if id is None else [id])
    strings = dict.fromkeys(
        str(name) for document in documents for name, value in document.items() if isinstance(value, str) and name != id
    )
    usual = [name for name in (title, "text") if name in strings]
    if "text" in usual:
        return tuple(usual)
    texts = [name for name, kind in kinds.items() if kind == "text" and name != "path" and can_be_searched(name)]
    return tuple(dict.fromkeys(usual + texts)) or tuple(name for name in strings if can_be_searched(name))


def field_weights(fields: Sequence[str], *, title: str = "title") -> tuple[float, ...]:
    """The weights of fields in a search that names none: all 1, but `TITLE` for the title of a catalogue.

    Descriptions of products name other products too. A title and a text count alike.
    """
    heavy = title if "text" not in fields else None
    return tuple(TITLE if name == heavy and len(fields) > 1 else 1.0 for name in fields)


def can_be_searched(name: str) -> bool:
    """Whether a field may be called so: letters, digits, _ - . and blanks between words; `whole` is all fields."""
    return name != "whole" and re.fullmatch(r"[^\W\d][\w.-]*( [\w.-]+)*", name) is not None


def check_searched(names: Sequence[str]) -> None:
    """Raise a clear error if fields cannot be searched, by their number or a name."""
    if len(names) > MOST_FIELDS:
        raise DataError(
            f"{len(names)} fields to search, e.g. {names[-1]}; at most {MOST_FIELDS} are, each of which takes space "
            "for every word. Name those to search: fields=[…], podium index --fields; the others are stored."
        )
    for name in names:
        if not can_be_searched(name):
            raise ParameterError(f"a field cannot be called {name!r}; use letters, digits, _ - . and blanks.")


def names_an_id(name: str) -> bool:
    """Whether a field's name says that it holds ids or codes, not quantities."""
    word = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.rpartition(".")[2]).lower()
    return re.split(r"[\W_]+", word)[-1] in _ID_NAMES


def is_code(texts: Sequence[str]) -> bool:
    """Whether numbers are codes: digits, all of the same number, such as an EAN."""
    return all(text.isdigit() and len(text) == len(texts[0]) >= _CODE for text in texts)


def _kind(name: str, values: Sequence[Any]) -> Kind:
    if all(isinstance(value, (int, float)) for value in values):
        return "ids" if names_an_id(name) else "numbers"
    texts = [part for value in values for part in (value if isinstance(value, list) else [value])]
    if not all(isinstance(text, str) for text in texts):
        return "lists" if any(isinstance(value, list) for value in values) else "text"
    if all(read_number(text) is not None for text in texts):
        if is_code(texts) or names_an_id(name):
            return "ids"
        return "dates" if all(read_date(text) is not None for text in texts) else "numbers"
    if name.lower() == "url" or _share(_URL.fullmatch(text.strip()) is not None for text in texts) >= _MOST:
        return "URLs"
    single = _share(len(text.split()) == 1 for text in texts) >= _MOST
    digits = _share(any(letter.isdigit() for letter in text) for text in texts) >= _MOST
    distinct = len(set(texts)) >= _MOST * len(texts) and len(texts) >= _FEW
    return "ids" if single and (names_an_id(name) or (digits and distinct)) else "text"


def _share(flags: Iterable[bool]) -> float:
    counted = list(flags)
    return sum(counted) / len(counted)
