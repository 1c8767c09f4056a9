"""Columns: labels, query ids, document ids and scores, in what people have."""

import array
import datetime
import decimal
import fractions
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from odd_inputs.plain import (
    EQUAL,
    ROW,
    ROWS,
    TEXT,
    N,
    Odd,
    masked,
    objects,
    positive,
    read_only,
    replaced,
    strided,
    structured,
    whole,
)


def columns(argument: str) -> list[Odd]:
    """What holds a column of small whole numbers: labels, query ids, scores of whole numbers."""
    types = ["i1", "u1", "<i2", ">i2", "u2", "i4", ">i4", "u4", "i8", ">i8", "u8", "f2", "f4", ">f4", "f8", ">f8", "g"]
    made = [Odd(f"numpy {kind}", argument, lambda v, kind=kind: np.array(whole(v), kind)) for kind in types]
    made += [
        Odd("tuple", argument, tuple),
        Odd("list of floats", argument, lambda v: [float(x) for x in v]),
        Odd("list of ints", argument, whole),
        Odd("list of numpy scalars", argument, lambda v: list(np.array(whole(v)))),
        Odd("list of 0-d arrays", argument, lambda v: list(map(np.array, whole(v))), f"{TEXT}|is no id"),
        Odd("ints and floats", argument, lambda v: [float(x) if k % 2 else int(x) for k, x in enumerate(v)]),
        Odd("generator", argument, lambda v: (x for x in v)),
        Odd("range of values", argument, lambda v: map(int, v)),
        Odd("objects", argument, lambda v: objects(whole(v))),
        Odd("Decimal", argument, lambda v: [decimal.Decimal(f"{x:.2f}") for x in v]),
        Odd("Fraction", argument, lambda v: [fractions.Fraction(int(x)) for x in v]),
        Odd("column vector", argument, lambda v: np.array(whole(v))[:, None]),
        Odd("list of lists of one", argument, lambda v: [[int(x)] for x in v]),
        Odd("row vector", argument, lambda v: np.array(whole(v))[None], ROW),
        Odd("folded matrix", argument, lambda v: np.array(whole(v)).reshape(2, -1), ROW),
        Odd("0-d array", argument, lambda v: np.array(1), ROW),
        Odd("scalar", argument, lambda v: 3, ROW),
        Odd("dictionary", argument, lambda v: dict(enumerate(v)), ROW),
        Odd("set", argument, lambda v: set(v), ROW),
        Odd("text", argument, lambda v: "012" * 10, f"{ROW}|got a path"),
        Odd("strided", argument, lambda v: strided(whole(v))),
        Odd("reversed view", argument, lambda v: np.array(whole(v)[::-1])[::-1]),
        Odd("read-only", argument, lambda v: read_only(whole(v))),
        Odd("np.matrix of a column", argument, lambda v: np.array(whole(v))[:, None].view(np.matrix)),
        Odd("array.array", argument, lambda v: array.array("d", map(float, v))),
        Odd("memoryview", argument, lambda v: memoryview(np.array(whole(v)))),
        Odd("structured", argument, structured, f"{TEXT}|is no id"),
        Odd("void", argument, lambda v: np.array(whole(v)).view("V8"), f"{TEXT}|is no id"),
        Odd("mask of nothing", argument, lambda v: masked(whole(v), where=False)),
        missing("masked", argument, lambda v: masked(whole(v), where=ROWS == 4), at=4),
        missing("masked floats", argument, lambda v: masked([float(x) for x in v], where=ROWS == 4), at=4),
        Odd("complex", argument, lambda v: np.array(v) + 0j, "complex"),
        Odd("a complex object", argument, lambda v: replaced(v, 1 + 1j), f"{TEXT}|complex"),
        missing("NaN", argument, lambda v: replaced(map(float, v), np.nan)),
        missing("None", argument, lambda v: replaced(v, None)),
        missing("pandas NA", argument, lambda v: replaced(v, pd.NA)),
        missing("NaT", argument, lambda v: replaced(v, pd.NaT)),
        missing("Decimal sNaN", argument, lambda v: replaced(v, decimal.Decimal("sNaN"))),
        Odd("list among numbers", argument, lambda v: replaced(v, [1, 2]), f"{TEXT}|is no id"),
        Odd("object among numbers", argument, lambda v: replaced(v, object()), f"{TEXT}|is no id"),
        Odd("pandas Series", argument, lambda v: pd.Series(v)),
        Odd("pandas Series of ints", argument, lambda v: pd.Series(whole(v))),
        Odd("pandas Int64", argument, lambda v: pd.Series(whole(v), dtype="Int64")),
        missing("pandas Int64 with NA", argument, lambda v: pd.Series(replaced(whole(v), None), dtype="Int64")),
        Odd("pandas Float64", argument, lambda v: pd.Series(v, dtype="Float64")),
        Odd("pandas on pyarrow", argument, lambda v: pd.Series(whole(v), dtype="int64[pyarrow]")),
        Odd("pandas category", argument, lambda v: pd.Series(whole(v), dtype="category")),
        Odd("pandas Categorical", argument, lambda v: pd.Categorical(whole(v))),
        Odd("pandas sparse", argument, lambda v: pd.Series(pd.arrays.SparseArray(whole(v)))),
        Odd("pandas objects", argument, lambda v: pd.Series(objects(whole(v)))),
        Odd("pandas Index", argument, lambda v: pd.Index(whole(v))),
        Odd("pandas shuffled index", argument, lambda v: pd.Series(whole(v), index=100 + ROWS[::-1])),
        Odd("pandas index twice", argument, lambda v: pd.Series(whole(v), index=ROWS % 2)),
        Odd("pandas frame of a column", argument, lambda v: pd.DataFrame({"a": whole(v)})),
        Odd("polars Series", argument, lambda v: pl.Series(whole(v))),
        Odd("polars UInt64", argument, lambda v: pl.Series(whole(v), dtype=pl.UInt64)),
        Odd("polars Int128", argument, lambda v: pl.Series(whole(v), dtype=pl.Int128)),
        Odd("polars Decimal", argument, lambda v: pl.Series([decimal.Decimal(int(x)) for x in v])),
        missing("polars with null", argument, lambda v: pl.Series(replaced(whole(v), None))),
        Odd("polars Null", argument, lambda v: pl.Series([None] * N), "row 0|no row has a label"),
        Odd("polars List", argument, lambda v: pl.Series([[int(x)] * 2 for x in v]), f"{TEXT}|is no id|{ROW}"),
        Odd("pyarrow Array", argument, lambda v: pa.array(whole(v))),
        missing("pyarrow with null", argument, lambda v: pa.array(replaced(whole(v), None))),
        Odd("pyarrow ChunkedArray", argument, lambda v: pa.chunked_array([whole(v)[:9], whole(v)[9:]])),
        Odd("pyarrow dictionary", argument, lambda v: pa.array(whole(v)).dictionary_encode()),
        Odd("pyarrow null", argument, lambda v: pa.nulls(N), "row 0|no row has a label"),
        Odd("too few", argument, lambda v: whole(v)[:-1], f"{N - 1}"),
        Odd("none at all", argument, lambda v: [], "0"),
    ]  # fmt: skip
    return made


def missing(name: str, argument: str, make: Callable[[Any], Any], *, at: int = 1) -> Odd:
    """A gap in a row: refused in words, but a label that is not there is a document that was not judged."""
    if argument != "y":
        return Odd(name, argument, make, f"row {at}")
    return Odd(name, argument, make, like=lambda v: replaced(map(float, v), np.nan, at))


def labels(argument: str) -> list[Odd]:
    """What only numbers may be refused for, and ids not."""
    return [
        Odd("text of numbers", argument, lambda v: [str(x) for x in v], TEXT),
        Odd("numpy text", argument, lambda v: np.array([str(x) for x in v]), TEXT),
        Odd("numpy bytes", argument, lambda v: np.array([str(x) for x in v], "S"), TEXT),
        Odd("numpy StringDType", argument, lambda v: np.array(list(map(str, v)), np.dtypes.StringDType()), TEXT),
        Odd("datetime64", argument, lambda v: np.array(whole(v), "M8[s]"), TEXT),
        Odd("timedelta64", argument, lambda v: np.array(whole(v), "m8[s]"), TEXT),
        Odd("timedelta64 objects", argument, lambda v: list(np.array(whole(v), "m8[s]")), TEXT),
        Odd("dates", argument, lambda v: [datetime.date(2020, 1, 1 + int(x)) for x in v], TEXT),
        Odd("pandas times", argument, lambda v: pd.Series(np.array(whole(v), "M8[s]")), TEXT),
        Odd("polars text", argument, lambda v: pl.Series([str(x) for x in v]), TEXT),
        Odd("pyarrow text", argument, lambda v: pa.array([str(x) for x in v]), TEXT),
        Odd("pandas string", argument, lambda v: pd.Series([str(x) for x in v], dtype="string"), TEXT),
        Odd("beyond floats", argument, lambda v: replaced(whole(v), 10**400), "row 1"),
        Odd("beyond exact", argument, lambda v: replaced(whole(v), 2**53 + 1), "would be rounded"),
        Odd("int64 beyond exact", argument, lambda v: np.array(replaced(whole(v), 2**53 + 1)), "would be rounded"),
        Odd("uint64 beyond exact", argument, lambda v: np.array(replaced(whole(v), 2**64 - 1), "u8"), "be rounded"),
        Odd("longdouble beyond", argument, lambda v: np.array(replaced(v, np.longdouble("1e4000"))), "beyond"),
    ]  # fmt: skip


TRUTH = [
    Odd("truth values", "qid", lambda v: [x > 1 for x in v], like=lambda v: [str(x > 1) for x in v]),
    Odd("numpy truth values", "qid", lambda v: np.array(v) > 1, like=lambda v: [str(x > 1) for x in v]),
    Odd("bool", "y", lambda v: np.array(v) > 0, like=positive),
    Odd("list of bool", "y", lambda v: [bool(x > 0) for x in v], like=positive),
    Odd("pandas boolean", "y", lambda v: pd.Series([x > 0 for x in v], dtype="boolean"), like=positive),
    Odd("polars Boolean", "y", lambda v: pl.Series([bool(x > 0) for x in v]), like=positive),
    Odd("inf", "y", lambda v: replaced(v, np.inf), "row 1.*finite"),
    Odd("inf", "qid", lambda v: replaced(v, np.inf), "row 1.*finite"),
    Odd("-inf", "y", lambda v: replaced(v, -np.inf), "row 1.*finite"),
    Odd("float32 fractions", "y", lambda v: np.array(v, "f4") + np.float32(0.25), like=lambda v: [x + 0.25 for x in v]),
]  # fmt: skip


def named(argument: str) -> list[Odd]:
    """Ids that are no numbers, beside the same ids as plain text."""

    def texts(
        make: Callable[[Any], Any], name: str, like: Callable[[int], str] = str, words: str | None = EQUAL
    ) -> Odd:
        return Odd(name, argument, make, words, like=lambda v: [like(int(x)) for x in v])

    def day(x: int) -> datetime.datetime:
        return datetime.datetime(2020, 1, int(x), 3, 4, 5)

    def moment(x: int) -> str:
        return f"2020-01-{x:02d}T03:04:05"

    big = 2**63
    return [
        texts(lambda v: [str(x) for x in v], "text"),
        texts(lambda v: [str(x).encode() for x in v], "bytes"),
        texts(lambda v: np.array([str(x) for x in v]), "numpy U"),
        texts(lambda v: np.array([str(x) for x in v], "S"), "numpy S"),
        texts(lambda v: np.array([str(x) for x in v], np.dtypes.StringDType()), "numpy StringDType"),
        texts(lambda v: [np.str_(x) for x in v], "numpy text scalars"),
        texts(lambda v: [str(x) if x % 2 else x for x in v], "text and numbers"),
        texts(lambda v: pd.Series([str(x) for x in v], dtype="string"), "pandas string"),
        texts(lambda v: pd.Series([str(x) for x in v], dtype="category"), "pandas category of text"),
        texts(lambda v: pl.Series([str(x) for x in v], dtype=pl.Categorical), "polars Categorical"),
        texts(lambda v: pl.Series([str(x) for x in v], dtype=pl.Enum([str(k) for k in range(N + 1)])), "polars Enum"),
        texts(lambda v: pl.Series([str(x).encode() for x in v]), "polars Binary"),
        texts(lambda v: pa.array([str(x) for x in v]).dictionary_encode(), "pyarrow dictionary of text"),
        texts(lambda v: pa.array([str(x).encode() for x in v]), "pyarrow binary"),
        texts(lambda v: ["a" + "\0" * int(x) for x in v], "text that ends in NUL", lambda x: "a" + "\0" * x),
        texts(lambda v: ["é" * int(x) for x in v], "text beyond ASCII", lambda x: "é" * x),
        texts(lambda v: ["\ud800" * int(x) for x in v], "half characters", words="half a character"),
        texts(lambda v: ["q" if x == 1 else None for x in v], "text with None", words="has no"),
        texts(lambda v: pd.Series([None if x == 1 else "q" for x in v], dtype="string"), "an NA", words="has no"),
        texts(lambda v: np.array([day(x) for x in v], "M8[s]"), "datetime64", moment),
        texts(lambda v: np.array([day(x) for x in v], "M8[ns]"), "datetime64 in ns", moment),
        texts(lambda v: [day(x) for x in v], "datetime", moment),
        texts(lambda v: pd.Series([day(x) for x in v]), "pandas datetime", moment),
        texts(lambda v: pl.Series([day(x) for x in v]), "polars Datetime", moment),
        texts(lambda v: pa.array([day(x) for x in v]), "pyarrow timestamp", moment),
        texts(lambda v: pd.DatetimeIndex([day(x) for x in v], tz="UTC"), "time zone", lambda x: f"{moment(x)}+00:00"),
        texts(lambda v: [datetime.date(2020, 1, x) for x in v], "date", lambda x: f"2020-01-{x:02d}"),
        texts(lambda v: pd.PeriodIndex([f"20{x:02d}" for x in v], freq="Y"), "Period", lambda x: f"20{x:02d}"),
        texts(lambda v: np.array(["NaT" if x == 1 else x for x in v], "M8[Y]"), "datetime64 NaT", words="has no"),
        texts(lambda v: [big + x for x in v], "beyond int64", lambda x: str(big + x)),
        texts(lambda v: [big + x if x > 1 else -1 for x in v], "int64 and -1", lambda x: str(big + x if x > 1 else -1)),
        texts(lambda v: np.array([big + x for x in v], "u8"), "uint64 beyond int64", lambda x: str(big + x)),
        texts(lambda v: [2**53 + x for x in v], "beyond floats", lambda x: str(2**53 + x)),
        texts(lambda v: np.array([2**53 + x for x in v]), "int64 beyond floats", lambda x: str(2**53 + x)),
        texts(lambda v: pl.Series([2**100 + x for x in v], dtype=pl.Int128), "Int128", lambda x: str(2**100 + x)),
        texts(lambda v: pd.Series([2**60 + x for x in v], dtype="Int64"), "large Int64", lambda x: str(2**60 + x)),
        texts(lambda v: [10**30 + x for x in v], "huge", lambda x: str(10**30 + x)),
        texts(lambda v: np.array([2.0**53 + x for x in v]), "floats beyond 2^53", words="float so large"),
        texts(lambda v: [2.0**64 * x for x in v], "floats beyond 2^63", words="float so large"),
        texts(lambda v: np.array([2.0**25 + x for x in v], "f4"), "float32 beyond 2^24", words="float so large"),
        texts(lambda v: [x + 0.5 for x in v], "floats with fractions", lambda x: str(x + 0.5)),
        texts(lambda v: [decimal.Decimal(x) / 4 for x in v], "Decimals", lambda x: str(decimal.Decimal(x) / 4)),
        texts(lambda v: [("a", x) for x in v], "tuples", words=f"is no id|{ROW}"),
        texts(lambda v: [-x for x in v], "negative", lambda x: str(-x)),
    ]  # fmt: skip
