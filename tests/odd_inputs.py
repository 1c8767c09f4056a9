"""Odd inputs: what people have in place of plain lists and arrays, and what must come of each.

An odd input is made from the plain case. Either all numbers are those of the plain case, to the last bit, or podium
refuses it in words that name the thing.
"""

import array
import datetime
import decimal
import fractions
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import scipy.sparse as sp

N, QUERIES = 30, 6
ROWS = np.arange(N)
X = (ROWS[:, None] * np.array([7, 11, 13]) % np.array([17, 23, 29])).astype(np.float64)
Y = (ROWS * 5 // 6 % 3).astype(np.float64)
QID = (ROWS * 7 % QUERIES + 1).tolist()
SCORES = (ROWS * 11 % 31).astype(np.float64).tolist()
DOCUMENTS = (ROWS + 1).tolist()
WEIGHTS = [1.0, 2.0, 0.5, 4.0, 1.0, 2.0]
"""Of the queries in order of first appearance."""
FEATURES = ["bm25", "clicks", "age"]

EQUAL = None
"""All numbers are those of the plain case."""


@dataclass(frozen=True)
class Odd:
    """One odd input in the place of one argument."""

    name: str
    argument: str
    make: Callable[[Any], Any]
    words: str | None = EQUAL  # that the refusal matches
    like: Callable[[Any], Any] | None = None  # the plain input whose numbers are expected; None: the plain case

    def __str__(self) -> str:
        return f"{self.argument} {self.name}"


def masked(values: Any, *, where: Any) -> Any:
    return np.ma.masked_array(np.asarray(values), mask=where)


def objects(values: Any) -> Any:
    made = np.empty(len(values), object)
    made[:] = list(values)
    return made


def replaced(values: Any, value: Any, at: int = 1) -> list[Any]:
    return [value if row == at else old for row, old in enumerate(values)]


def strided(values: Any) -> Any:
    return np.repeat(np.asarray(values), 2, axis=0)[::2]


def read_only(values: Any) -> Any:
    made = np.array(values)
    made.flags.writeable = False
    return made


def structured(values: Any) -> Any:
    return np.array([(value,) for value in values], [("a", "f8")])


def holes(values: Any) -> Any:
    """The features with a missing value."""
    made = np.array(values, np.float64)
    made[3, 1] = np.nan
    return made


def whole(values: Any) -> list[int]:
    return [int(value) for value in values]


def positive(values: Any) -> list[float]:
    return [float(value > 0) for value in values]


TEXT = "must be numbers|is no number"
ROW = "one per row"


def _columns(argument: str) -> list[Odd]:
    """What holds a column of small whole numbers: labels, query ids, scores of whole numbers."""
    types = ["i1", "u1", "<i2", ">i2", "u2", "i4", ">i4", "u4", "i8", ">i8", "u8", "f2", "f4", ">f4", "f8", ">f8", "g"]
    made = [Odd(f"numpy {kind}", argument, lambda v, kind=kind: np.array(whole(v), kind)) for kind in types]
    made += [
        Odd("tuple", argument, tuple),
        Odd("list of floats", argument, lambda v: [float(x) for x in v]),
        Odd("list of ints", argument, whole),
        Odd("list of numpy scalars", argument, lambda v: list(np.array(whole(v)))),
        Odd("list of 0-d arrays", argument, lambda v: list(map(np.array, whole(v)))),
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
        Odd("masked", argument, lambda v: masked(whole(v), where=ROWS == 4), "row 4"),
        Odd("masked floats", argument, lambda v: masked([float(x) for x in v], where=ROWS == 4), "row 4"),
        Odd("complex", argument, lambda v: np.array(v) + 0j, "complex"),
        Odd("a complex object", argument, lambda v: replaced(v, 1 + 1j), f"{TEXT}|complex"),
        Odd("NaN", argument, lambda v: replaced(map(float, v), np.nan), "row 1"),
        Odd("None", argument, lambda v: replaced(v, None), "row 1"),
        Odd("pandas NA", argument, lambda v: replaced(v, pd.NA), "row 1"),
        Odd("NaT", argument, lambda v: replaced(v, pd.NaT), "row 1"),
        Odd("Decimal sNaN", argument, lambda v: replaced(v, decimal.Decimal("sNaN")), "row 1"),
        Odd("list among numbers", argument, lambda v: replaced(v, [1, 2]), f"{TEXT}|is no id"),
        Odd("object among numbers", argument, lambda v: replaced(v, object()), f"{TEXT}|is no id"),
        Odd("pandas Series", argument, lambda v: pd.Series(v)),
        Odd("pandas Series of ints", argument, lambda v: pd.Series(whole(v))),
        Odd("pandas Int64", argument, lambda v: pd.Series(whole(v), dtype="Int64")),
        Odd("pandas Int64 with NA", argument, lambda v: pd.Series(replaced(whole(v), None), dtype="Int64"), "row 1"),
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
        Odd("polars with null", argument, lambda v: pl.Series(replaced(whole(v), None)), "row 1"),
        Odd("polars Null", argument, lambda v: pl.Series([None] * N), "row 0"),
        Odd("polars List", argument, lambda v: pl.Series([[int(x)] * 2 for x in v]), f"{TEXT}|is no id|{ROW}"),
        Odd("pyarrow Array", argument, lambda v: pa.array(whole(v))),
        Odd("pyarrow with null", argument, lambda v: pa.array(replaced(whole(v), None)), "row 1"),
        Odd("pyarrow ChunkedArray", argument, lambda v: pa.chunked_array([whole(v)[:9], whole(v)[9:]])),
        Odd("pyarrow dictionary", argument, lambda v: pa.array(whole(v)).dictionary_encode()),
        Odd("pyarrow null", argument, lambda v: pa.nulls(N), "row 0"),
        Odd("too few", argument, lambda v: whole(v)[:-1], f"{N - 1}"),
        Odd("none at all", argument, lambda v: [], "0"),
    ]  # fmt: skip
    return made


def _labels(argument: str) -> list[Odd]:
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


_TRUTH = [
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


def _named(argument: str) -> list[Odd]:
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


def _matrices(argument: str) -> list[Odd]:
    """What holds features: whole numbers from 0 to 28."""
    types = ["u1", "<i2", ">i2", "i4", "i8", ">i8", "u8", "f2", "f4", ">f4", ">f8", "g"]
    made = [Odd(f"numpy {kind}", argument, lambda v, kind=kind: np.array(v).astype(kind)) for kind in types]
    csr = sp.csr_array
    made += [
        Odd("list of lists", argument, lambda v: v.tolist()),
        Odd("tuple of tuples", argument, lambda v: tuple(map(tuple, v.astype(int).tolist()))),
        Odd("list of arrays", argument, list),
        Odd("generator of rows", argument, lambda v: (row for row in v)),
        Odd("Fortran order", argument, np.asfortranarray),
        Odd("strided", argument, strided),
        Odd("reversed view", argument, lambda v: np.array(v[::-1, ::-1])[::-1, ::-1]),
        Odd("read-only", argument, read_only),
        Odd("np.matrix", argument, lambda v: np.array(v).view(np.matrix)),
        Odd("memoryview", argument, lambda v: memoryview(np.array(v))),
        Odd("objects", argument, lambda v: v.astype(object)),
        Odd("Decimal", argument, lambda v: [[decimal.Decimal(int(x)) for x in row] for row in v]),
        Odd("Fraction", argument, lambda v: [[fractions.Fraction(int(x)) for x in row] for row in v]),
        Odd("mask of nothing", argument, lambda v: masked(v, where=False)),
        Odd("masked", argument, lambda v: masked(v, where=np.isnan(holes(v))), like=holes),
        Odd("masked ints", argument, lambda v: masked(v.astype(int), where=np.isnan(holes(v))), like=holes),
        Odd("None in objects", argument, lambda v: np.where(np.isnan(holes(v)), None, v.astype(object)), like=holes),
        Odd("NA in objects", argument, lambda v: np.where(np.isnan(holes(v)), pd.NA, v.astype(object)), like=holes),
        Odd("bool", argument, lambda v: v > 9, like=lambda v: (v > 9).astype(float)),
        Odd("text", argument, lambda v: v.astype(str), TEXT),
        Odd("lists of text", argument, lambda v: v.astype(str).tolist(), TEXT),
        Odd("text in objects", argument, lambda v: np.where(v == v[2, 1], "many", v.astype(object)), TEXT),
        Odd("bytes", argument, lambda v: v.astype("S"), TEXT),
        Odd("complex", argument, lambda v: v + 1j, "omplex"),
        Odd("datetime64", argument, lambda v: v.astype(int).astype("M8[s]"), f"{TEXT}|DType"),
        Odd("timedelta64", argument, lambda v: v.astype(int).astype("m8[s]"), f"{TEXT}|DType"),
        Odd("structured", argument, lambda v: structured(v[:, 0]), "numbers"),
        Odd("ragged", argument, lambda v: [*v.tolist()[:-1], [1.0]], "numbers|sequence"),
        Odd("1-d", argument, lambda v: v[:, 0], "matrix|2D"),
        Odd("3-d", argument, lambda v: v[:, :, None], "matrix|2D|dim"),
        Odd("0-d", argument, lambda v: np.array(1.0), "matrix|2D"),
        Odd("number", argument, lambda v: 1.0, "matrix|2D"),
        Odd("dictionary", argument, lambda v: {"a": v[:, 0]}, "numbers|matrix|2D|is no number"),
        Odd("one row too few", argument, lambda v: v[:-1], f"{N - 1}|{N}"),
        Odd("beyond float32", argument, lambda v: np.where(v == 1, 1e39, v), "32-bit|too large"),
        Odd("csr_array", argument, csr, like=csr),
        Odd("csr_matrix", argument, sp.csr_matrix, like=csr),
        Odd("csc_array", argument, sp.csc_array, like=csr),
        Odd("coo_array", argument, sp.coo_array, like=csr),
        Odd("csr of ints", argument, lambda v: csr(v.astype(int)), like=csr),
        Odd("csr unsorted", argument, lambda v: unsorted(csr(v)), like=csr),
        Odd("coo with duplicates", argument, duplicates, like=csr),
        Odd("csr with duplicates", argument, lambda v: duplicates_in_rows(csr(v)), like=csr),
        Odd("csr of complex", argument, lambda v: csr(v + 0j), "omplex"),
        Odd("csr beyond float32", argument, lambda v: csr(np.where(v == 1, 1e39, v)), "32-bit|too large"),
    ]  # fmt: skip
    return made


def unsorted(matrix: Any) -> Any:
    """The same matrix with the cells of each row in reverse order."""
    order = np.concatenate([np.arange(a, b)[::-1] for a, b in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True)])
    return sp.csr_array((matrix.data[order], matrix.indices[order], matrix.indptr), matrix.shape)


def duplicates(values: Any) -> Any:
    """A matrix whose cells are given in two parts, which are rounded to 32 bits if each is alone."""
    rows, columns = np.nonzero(values)
    cells, part = values[rows, columns], 1 / 3
    return sp.coo_array(
        (np.append(cells - part, np.full(len(cells), part)), (np.tile(rows, 2), np.tile(columns, 2))), values.shape
    )


def duplicates_in_rows(matrix: Any) -> Any:
    data = np.repeat(matrix.data / 2, 2)
    return sp.csr_array((data, np.repeat(matrix.indices, 2), matrix.indptr * 2), matrix.shape)


def _frames() -> list[Odd]:
    """What holds a row per document: columns qid, label and features; made from a plain pandas frame."""

    def column(name: str, make: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda f: f.assign(**{name: make(f[name])})

    def polars(**types: Any) -> Callable[[Any], Any]:
        return lambda f: pl.from_pandas(f).with_columns(*(pl.col(name).cast(kind) for name, kind in types.items()))

    def text_ids(f: Any) -> Any:
        return f.assign(qid=[str(x) for x in f["qid"]])

    def hole(f: Any) -> Any:
        return f.assign(clicks=[np.nan if row == 3 else x for row, x in enumerate(f["clicks"])])

    return [Odd(name, _part(name), make, *rest) for name, make, *rest in [
        ("polars", pl.from_pandas),
        ("polars lazy", lambda f: pl.from_pandas(f).lazy()),
        ("pyarrow", lambda f: pa.Table.from_pandas(f)),
        ("pyarrow in chunks", lambda f: pa.concat_tables([pa.Table.from_pandas(f[:7]), pa.Table.from_pandas(f[7:])])),
        ("shuffled index", lambda f: f.set_index(pd.Index(ROWS[::-1]))),
        ("index twice", lambda f: f.set_index(pd.Index(ROWS % 3))),
        ("MultiIndex rows", lambda f: f.set_index(pd.MultiIndex.from_arrays([ROWS, ROWS]))),
        ("columns in another order", lambda f: f[["label", *FEATURES, "qid"]]),
        ("Int64 ids", column("qid", lambda s: s.astype("Int64"))),
        ("float ids", column("qid", lambda s: s.astype(float))),
        ("text ids", text_ids),
        ("category ids", column("qid", lambda s: s.astype("category"))),
        ("object ids", column("qid", lambda s: s.astype(object))),
        ("polars Categorical ids", lambda f: polars(qid=pl.Categorical)(text_ids(f))),
        ("polars Enum ids", lambda f: polars(qid=pl.Enum(list("123456")))(text_ids(f))),
        ("polars UInt64 ids", polars(qid=pl.UInt64)),
        ("polars Decimal ids", polars(qid=pl.Decimal(10, 2))),
        ("polars Float64 ids", polars(qid=pl.Float64)),
        ("uint64 ids", column("qid", lambda s: s.astype("u8"))),
        ("ids of pyarrow", column("qid", lambda s: s.astype("int64[pyarrow]"))),
        ("float ids beyond 2^63", column("qid", lambda s: s * 2.0**64), "float so large"),
        ("float ids beyond 2^53", column("qid", lambda s: s + 2.0**53), "float so large"),
        ("an inf id", column("qid", lambda s: s.where(s > 1, np.inf)), "no finite number"),
        ("a NaN id", column("qid", lambda s: s.where(s > 1)), "no value|has no"),
        ("polars NaN id", lambda f: pl.from_pandas(f.assign(qid=f["qid"].where(ROWS > 1)), nan_to_null=False), "no"),
        ("an NA id", column("qid", lambda s: s.astype("Int64").where(s > 1)), "no value|has no"),
        ("NaT ids", column("qid", lambda s: pd.to_datetime(s.where(s > 1), unit="s")), "no value|has no"),
        ("None among ids", column("qid", lambda s: s.astype(object).where(s > 1, None)), "no value|has no"),
        ("list ids", lambda f: pl.from_pandas(f).with_columns(qid=pl.concat_list("qid", "qid")), "is no id"),
        ("struct ids", lambda f: pl.from_pandas(f).with_columns(qid=pl.struct("qid", "label")), "is no id|one per row"),
        ("complex ids", column("qid", lambda s: s + 0j), "complex"),
        ("Int64 labels", column("label", lambda s: s.astype("Int64"))),
        ("float32 labels", column("label", lambda s: s.astype("f4"))),
        ("object labels", column("label", lambda s: s.astype(object))),
        ("sparse labels", column("label", lambda s: pd.arrays.SparseArray(s.to_numpy()))),
        ("longdouble labels", column("label", lambda s: s.astype("g"))),
        ("Decimal labels", column("label", lambda s: pd.Series([decimal.Decimal(int(x)) for x in s], dtype=object))),
        ("an NA label", column("label", lambda s: s.astype("Int64").where(ROWS != 3)), "no value"),
        ("a NaN label", column("label", lambda s: s.where(ROWS != 3)), "no value"),
        ("an inf label", column("label", lambda s: s.where(ROWS != 3, np.inf)), "finite"),
        ("text labels", column("label", lambda s: s.astype(str)), "not numbers|is no number"),
        ("category labels", column("label", lambda s: s.astype(int).astype("category")), "not numbers"),
        ("complex labels", column("label", lambda s: s + 1j), "complex"),
        ("times as labels", column("label", lambda s: pd.to_datetime(s, unit="s")), "not numbers"),
        ("lengths of time as labels", column("label", lambda s: pd.to_timedelta(s, unit="s")), "not numbers"),
        ("labels beyond exact", column("label", lambda s: s.astype(int) + 2**53), "would be rounded"),
        ("polars Int64 features", polars(bm25=pl.Int64, clicks=pl.UInt8)),
        ("polars Decimal features", polars(bm25=pl.Decimal(10, 2))),
        ("Float64 features", column("bm25", lambda s: s.astype("Float64"))),
        ("features of pyarrow", column("bm25", lambda s: s.astype("double[pyarrow]"))),
        ("sparse features", column("bm25", lambda s: pd.arrays.SparseArray(s.to_numpy()))),
        ("object features", column("bm25", lambda s: s.astype(object))),
        ("float16 features", column("bm25", lambda s: s.astype("f2"))),
        ("longdouble features", column("bm25", lambda s: s.astype("g"))),
        ("an NA feature", lambda f: hole(f).assign(clicks=hole(f)["clicks"].astype("Int64")), EQUAL, hole),
        ("a null feature", lambda f: pl.from_pandas(hole(f)), EQUAL, hole),
        ("a null of pyarrow", lambda f: pa.Table.from_pandas(hole(f)), EQUAL, hole),
        ("None in an object feature", column("clicks", lambda s: s.astype(object).where(ROWS != 3, None)), EQUAL, hole),
        ("an inf feature", column("clicks", lambda s: s.where(ROWS != 3, np.inf)), "finite"),
        ("a feature beyond float32", column("clicks", lambda s: s.where(ROWS != 3, 1e39)), "32-bit"),
        ("a text feature", column("clicks", lambda s: s.astype(str)), "not numbers|is no number"),
        ("a mixed feature", column("clicks", lambda s: s.astype(object).where(ROWS != 3, "many")), "is no number"),
        ("a category feature", column("clicks", lambda s: s.astype("category")), "not numbers"),
        ("a complex feature", column("clicks", lambda s: s + 1j), "complex"),
        ("a time feature", column("clicks", lambda s: pd.to_datetime(s, unit="s")), "not numbers"),
        ("a Period feature", column("clicks", lambda s: pd.period_range("2020", periods=N)), "is no number"),
        ("a list feature", lambda f: pl.from_pandas(f).with_columns(clicks=pl.concat_list("age", "age")), "numbers"),
        ("two features of one name", lambda f: f.set_axis(["qid", "label", "bm25", "bm25", "age"], axis=1), "'bm25'"),
        ("two columns qid", lambda f: pd.concat([f, f[["qid"]]], axis=1), "'qid'"),
        ("two labels of pyarrow", lambda f: pa.Table.from_pandas(f).append_column("label", [f["label"]]), "'label'"),
        ("MultiIndex columns", lambda f: f.set_axis(pd.MultiIndex.from_product([["a"], f.columns]), axis=1), "levels"),
        ("a lazy frame that fails", lambda f: pl.from_pandas(f).lazy().select("nothing"), "nothing"),
        ("a Series", lambda f: f["label"], "which rows|expected a pandas|matrix|one per row|labels"),
    ]]  # fmt: skip


def _part(name: str) -> str:
    """What of a frame is odd: all of it, its labels, which some functions do not read, or its features."""
    if name.startswith("two "):
        return "frame"
    return next((f"{part}s of a frame" for part in ("label", "feature") if part in name), "frame")


def _tables(argument: str, id_column: str, number: str) -> list[Odd]:
    """What holds rankings, judgments or clicks, a row each; made from a plain pandas frame of whole numbers."""

    def ids(make: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda f: f.assign(**{id_column: make(f[id_column])})

    def numbers(make: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda f: f.assign(**{number: make(f[number])})

    def texts(make: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda f: make(f.assign(**{id_column: f[id_column].astype(str)}))

    def polars(name: str, kind: Any) -> Callable[[Any], Any]:
        return lambda f: pl.from_pandas(f).with_columns(pl.col(name).cast(kind))

    missing = "has no|missing|no value|finite"
    return [Odd(name, argument, make, *rest) for name, make, *rest in [
        ("polars", pl.from_pandas),
        ("polars lazy", lambda f: pl.from_pandas(f).lazy()),
        ("pyarrow", pa.Table.from_pandas),
        ("shuffled index", lambda f: f.set_index(pd.Index(range(len(f), 0, -1)))),
        ("numbered column beside", lambda f: f.assign(**{"0": 1}).rename(columns={"0": 0})),
        ("text ids", texts(lambda f: f)),
        ("bytes ids", texts(lambda f: f.assign(**{id_column: [x.encode() for x in f[id_column]]}))),
        ("Int64 ids", ids(lambda s: s.astype("Int64"))),
        ("float ids", ids(lambda s: s.astype(float))),
        ("object ids", ids(lambda s: s.astype(object))),
        ("ints and floats", ids(lambda s: objects([float(x) if k % 2 else x for k, x in enumerate(s.tolist())]))),
        ("Decimal ids", ids(lambda s: objects([decimal.Decimal(f"{x}.00") for x in s]))),
        ("category ids", ids(lambda s: s.astype("category"))),
        ("polars Categorical ids", texts(polars(id_column, pl.Categorical))),
        ("polars UInt64 ids", polars(id_column, pl.UInt64)),
        ("polars Decimal ids", polars(id_column, pl.Decimal(10, 2))),
        ("pyarrow dictionary ids", texts(lambda f: pa.Table.from_pandas(f.astype({id_column: "category"})))),
        ("float ids beyond 2^53", ids(lambda s: s + 2.0**53), "float so large"),
        ("float ids beyond 2^63", ids(lambda s: s * 2.0**64), "float so large"),
        ("an inf id", ids(lambda s: s.where(s > 1, np.inf)), "no finite number"),
        ("a NaN id", ids(lambda s: s.where(s > 1)), missing),
        ("a polars NaN id", lambda f: pl.from_pandas(ids(lambda s: s.where(s > 1))(f), nan_to_null=False), missing),
        ("None among ids", ids(lambda s: s.astype(object).where(s > 1, None)), missing),
        ("NaT among ids", ids(lambda s: pd.to_datetime(s.where(s > 1), unit="s")), missing),
        ("complex ids", ids(lambda s: s + 0j), "complex"),
        ("list ids", lambda f: pl.from_pandas(f).with_columns(pl.concat_list(pl.col(id_column), number)), "is no id"),
        ("Int64 numbers", numbers(lambda s: s.astype("Int64"))),
        ("float32 numbers", numbers(lambda s: s.astype("f4"))),
        ("uint8 numbers", numbers(lambda s: s.astype("u1"))),
        ("object numbers", numbers(lambda s: s.astype(object))),
        ("longdouble numbers", numbers(lambda s: s.astype("g"))),
        ("sparse numbers", numbers(lambda s: pd.arrays.SparseArray(s.to_numpy()))),
        ("Decimal numbers", numbers(lambda s: objects([decimal.Decimal(int(x)) for x in s]))),
        ("polars Decimal numbers", polars(number, pl.Decimal(10, 2))),
        ("text numbers", numbers(lambda s: s.astype(str)), "not numbers"),
        ("category numbers", numbers(lambda s: s.astype("category")), "not numbers"),
        ("complex numbers", numbers(lambda s: s + 1j), "complex"),
        ("times as numbers", numbers(lambda s: pd.to_datetime(s, unit="s")), "not numbers"),
        ("numbers beyond exact", numbers(lambda s: s + 2**53), "would be rounded|must hold whole"),
        ("an inf number", numbers(lambda s: s.where(s > 1, np.inf)), "finite|whole|inf"),
        ("two columns of one name", lambda f: pd.concat([f, f[[number]]], axis=1), number),
        ("MultiIndex columns", lambda f: f.set_axis(pd.MultiIndex.from_product([["a"], f.columns]), axis=1), "levels"),
        ("no frame", lambda f: f.to_dict(), "expected a pandas"),
        ("a Series", lambda f: f[number], "expected a pandas"),
    ]]  # fmt: skip


GROUP = [5] * QUERIES
_GROUPS = [Odd(name, "group", make, *rest) for name, make, *rest in [
    ("tuple", tuple),
    ("numpy i4", lambda v: np.array(v, "i4")),
    ("numpy u8", lambda v: np.array(v, "u8")),
    ("big-endian", lambda v: np.array(v, ">i8")),
    ("generator", lambda v: (x for x in v)),
    ("column vector", lambda v: np.array(v)[:, None]),
    ("pandas Series", pd.Series),
    ("pandas Int64", lambda v: pd.Series(v, dtype="Int64")),
    ("polars Series", pl.Series),
    ("pyarrow Array", pa.array),
    ("mask of nothing", lambda v: masked(v, where=False)),
    ("masked", lambda v: masked(v, where=np.arange(QUERIES) == 1), "group sizes"),
    ("floats", lambda v: [float(x) for x in v], "group sizes"),
    ("truth values", lambda v: [True] * N, "group sizes"),
    ("text", lambda v: [str(x) for x in v], "group sizes"),
    ("negative", lambda v: [*v, 5, -5], "group sizes"),
    ("None", lambda v: [None, *v], "group sizes"),
    ("too few", lambda v: v[:-1], "add up to 25"),
    ("too many", lambda v: [*v, 1], "add up to 31"),
    ("sizes that wrap", lambda v: [2**63, 2**63, *v], "group sizes"),
    ("uint64 that wrap", lambda v: np.array([2**63, 2**63, *v], "u8"), "group sizes"),
    ("a number", lambda v: N, "one per row"),
]]  # fmt: skip

_WEIGHTS = [Odd(name, "query_weights", make, *rest) for name, make, *rest in [
    ("tuple", tuple),
    ("float32", lambda v: np.array(v, "f4")),
    ("Decimal", lambda v: [decimal.Decimal(x) for x in v]),
    ("pandas Float64", lambda v: pd.Series(v, dtype="Float64")),
    ("column vector", lambda v: np.array(v)[:, None]),
    ("negative", lambda v: replaced(v, -1.0), "at least 0"),
    ("NaN", lambda v: replaced(v, np.nan), "finite"),
    ("inf", lambda v: replaced(v, np.inf), "finite"),
    ("None", lambda v: replaced(v, None), "finite"),
    ("masked", lambda v: masked(v, where=np.arange(QUERIES) == 1), "finite"),
    ("all zero", lambda v: [0.0] * QUERIES, "zero"),
    ("complex", lambda v: np.array(v) + 1j, "complex"),
    ("text", lambda v: [str(x) for x in v], TEXT),
    ("one per row", lambda v: [1.0] * N, f"{N} query_weights for {QUERIES}"),
]]  # fmt: skip

_SAMPLE_WEIGHTS = [Odd(name, "sample_weight", make, *rest) for name, make, *rest in [
    ("list", list),
    ("float32", lambda v: np.array(v, "f4")),
    ("pandas Series", pd.Series),
    ("polars Series", pl.Series),
    ("column vector", lambda v: np.array(v)[:, None]),
    ("negative", lambda v: -np.array(v), "at least 0"),
    ("masked", lambda v: masked(v, where=ROWS == 4), "finite"),
    ("NaN", lambda v: replaced(v, np.nan), "finite"),
    ("complex", lambda v: np.array(v) + 1j, "complex"),
    ("text", lambda v: [str(x) for x in v], TEXT),
    ("too few", lambda v: v[:-1], f"{N - 1} sample weights"),
    ("different within a query", lambda v: [*v[:-1], 9.0], "different weights"),
    ("all zero", lambda v: [0.0] * N, "zero"),
]]  # fmt: skip

_DOCUMENT_WEIGHTS = [Odd(name, "document_weights", make, *rest) for name, make, *rest in [
    ("tuple", tuple),
    ("float32", lambda v: np.array(v, "f4")),
    ("Decimal", lambda v: [decimal.Decimal(x) for x in v]),
    ("column vector", lambda v: np.array(v)[:, None]),
    ("pandas Float64", lambda v: pd.Series(v, dtype="Float64")),
    ("mask", lambda v: masked(v, where=ROWS == 4), "not a finite"),
    ("NaN", lambda v: replaced(v, np.nan), "not a finite"),
    ("None", lambda v: replaced(v, None), "not a finite"),
    ("inf", lambda v: replaced(v, np.inf), "not a finite"),
    ("complex", lambda v: np.array(v) + 1j, "complex"),
    ("text", lambda v: [str(x) for x in v], TEXT),
    ("too few", lambda v: v[:-1], f"{N - 1} document_weights"),
]]  # fmt: skip

_PREFERENCES = [Odd(name, "preferences", make, *rest) for name, make, *rest in [
    ("lists", lambda v: [list(part) for part in v]),
    ("numpy i4", lambda v: [np.array(v[0], "i4"), np.array(v[1], "u8"), np.array(v[2], "f4")]),
    ("floats of whole numbers", lambda v: [np.array(v[0], float), np.array(v[1], float), v[2]]),
    ("pandas", lambda v: [pd.Series(part) for part in v]),
    ("polars", lambda v: [pl.Series(part) for part in v]),
    ("rows with fractions", lambda v: [np.array(v[0]) + 0.5, *v[1:]], "whole numbers"),
    ("rows as text", lambda v: [[str(x) for x in v[0]], *v[1:]], "whole numbers"),
    ("truth values", lambda v: [np.ones(N, bool), *v[1:]], "whole numbers"),
    ("masked rows", lambda v: [np.ma.masked_array(v[0], mask=[1, 0, 0]), *v[1:]], "row 0 has no winner"),
    ("NaN", lambda v: [[np.nan, *v[0][1:]], *v[1:]], "row 0 has no winner"),
    ("negative rows", lambda v: [[-1, *v[0][1:]], *v[1:]], "row -1"),
    ("rows beyond", lambda v: [[2**63, *v[0][1:]], *v[1:]], "whole numbers"),
    ("complex", lambda v: [np.array(v[0]) + 1j, *v[1:]], "complex"),
    ("a masked probability", lambda v: [*v[:2], np.ma.masked_array(v[2], mask=[1, 0, 0])], "probability"),
    ("a complex probability", lambda v: [*v[:2], np.array(v[2]) + 1j], "complex"),
    ("a probability beyond 1", lambda v: [*v[:2], [1.5, 1, 1]], "probability"),
]]  # fmt: skip

_VOTERS = [Odd(name, "weights of voters", make, *rest) for name, make, *rest in [
    ("tuple", tuple),
    ("numpy", np.array),
    ("Decimal", lambda v: [decimal.Decimal(x) for x in v]),
    ("pandas", pd.Series),
    ("negative", lambda v: replaced(v, -1.0), "above 0"),
    ("zero", lambda v: replaced(v, 0.0), "above 0"),
    ("NaN", lambda v: replaced(v, np.nan), "above 0"),
    ("masked", lambda v: np.ma.masked_array(v, mask=[0, 1, 0]), "above 0"),
    ("complex", lambda v: np.array(v) + 1j, "complex"),
    ("text", lambda v: list(map(str, v)), TEXT),
    ("too few", lambda v: v[:-1], "2 weights for 3"),
]]  # fmt: skip

_SEEDS = [Odd(name, "seed", make, *rest) for name, make, *rest in [
    ("numpy int", lambda v: np.int32(v)),
    ("numpy uint", lambda v: np.uint64(v)),
    ("0-d array", lambda v: np.array(v)),
    ("-1", lambda v: -1, "seed|random_state"),
    ("float", lambda v: float(v), "seed|random_state"),
    ("NaN", lambda v: float("nan"), "seed|random_state"),
    ("text", str, "seed|random_state"),
    ("truth value", lambda v: True, "seed|random_state"),
    ("bytes", lambda v: b"3", "seed|random_state"),
]]  # fmt: skip
_SEEDS += [
    Odd("None", "seed of podium", lambda v: None, "seed"),
    Odd("Generator", "seed of podium", lambda v: np.random.default_rng(v), "seed"),
]

_WHOLE = [Odd(name, "whole", make, *rest) for name, make, *rest in [
    ("numpy int", lambda v: np.int16(v)),
    ("0", lambda v: 0, "at least|≥"),
    ("-1", lambda v: -1, "at least|≥"),
    ("1.5", lambda v: 1.5, "whole number"),
    ("float", float, "whole number"),
    ("NaN", lambda v: float("nan"), "whole number"),
    ("inf", lambda v: float("inf"), "whole number"),
    ("text", str, "whole number"),
    ("truth value", lambda v: True, "whole number"),
]]  # fmt: skip

_NAMES = [Odd(name, "names", make, *rest) for name, make, *rest in [
    ("tuple", tuple),
    ("numpy text", np.array),
    ("pandas Index", pd.Index),
    ("numbers", lambda v: [0, 1, 2], EQUAL, lambda v: ["0", "1", "2"]),
    ("blanks and quotes", lambda v: ["a b", "'", '"'], EQUAL, lambda v: ["a b", "'", '"']),
    ("one twice", lambda v: ["a", "a", "b"], "'a'"),
    ("one twice as number and text", lambda v: ["1", 1, "b"], "'1'"),
    ("None", lambda v: ["a", None, "b"], "has no name"),
    ("NaN", lambda v: ["a", np.nan, "b"], "has no name"),
    ("a text", lambda v: "abc", "one per row"),
    ("too few", lambda v: v[:-1], "2 feature names"),
    ("lists", lambda v: [["a"], ["b"], ["c", "d"]], "is no id"),
]]  # fmt: skip

_RUNS = [Odd(name, argument, make, *rest) for argument in ("run", "qrels") for name, make, *rest in [
    ("whole numbers as ids", lambda v: {int(q): {int(d): x for d, x in ds.items()} for q, ds in v.items()}),
    ("numpy ids", lambda v: {np.int64(q): {np.str_(d): x for d, x in ds.items()} for q, ds in v.items()}),
    ("bytes as ids", lambda v: {q.encode(): {d.encode(): x for d, x in ds.items()} for q, ds in v.items()}),
    ("float ids", lambda v: {float(q): {float(d): x for d, x in ds.items()} for q, ds in v.items()}),
    ("numpy numbers", lambda v: {q: {d: np.float64(x) for d, x in ds.items()} for q, ds in v.items()}),
    ("Decimal", lambda v: {q: {d: decimal.Decimal(x) for d, x in ds.items()} for q, ds in v.items()}),
    ("a query twice", lambda v: {**v, 1: {"9": 1.0}}, "'1' is there twice"),
    ("a document twice", lambda v: {**v, "1": {**v["1"], 1: 9.0}}, "'1' is there twice"),
    ("NaN", lambda v: {**v, "1": {"1": float("nan")}}, "finite"),
    ("None", lambda v: {**v, "1": {"1": None}}, "finite"),
    ("text", lambda v: {**v, "1": {"1": "2"}}, "finite"),
    ("complex", lambda v: {**v, "1": {"1": 2j}}, "finite"),
    ("masked", lambda v: {**v, "1": {"1": np.ma.masked}}, "finite"),
    ("beyond exact", lambda v: {**v, "1": {"1": 2**53 + 1}}, "finite"),
    ("None as a query", lambda v: {**v, None: {"1": 2.0}}, "is no id"),
    ("NaN as a document", lambda v: {**v, "1": {float("nan"): 2.0}}, "is no id"),
    ("a tuple as a query", lambda v: {**v, ("1", "2"): {"1": 2.0}}, "is no id"),
    ("a list of documents", lambda v: {**v, "1": ["1"]}, "expected a dictionary"),
    ("a list", lambda v: list(v), "expected"),
    ("None in its place", lambda v: None, "expected"),
]]  # fmt: skip

_ORDERS = [Odd(name, "orders", make, *rest) for name, make, *rest in [
    ("tuples", lambda v: tuple(map(tuple, v))),
    ("numpy text", lambda v: [np.array(order) for order in v]),
    ("numpy matrix", np.array),
    ("whole numbers", lambda v: [[int(d) for d in order] for order in v]),
    ("numpy ints", lambda v: np.array(v).astype(int)),
    ("floats", lambda v: [[float(d) for d in order] for order in v]),
    ("bytes", lambda v: [[d.encode() for d in order] for order in v]),
    ("numpy bytes", lambda v: np.array(v, "S")),
    ("pandas Series", lambda v: [pd.Series(order) for order in v]),
    ("polars Series", lambda v: [pl.Series(order) for order in v]),
    ("masked", lambda v: [np.ma.masked_array(np.array(v[0]), mask=[0, 1, 0, 0]), *v[1:]], "is no id"),
    ("None", lambda v: [["1", None], *v[1:]], "is no id"),
    ("NaN", lambda v: [["1", float("nan")], *v[1:]], "is no id"),
    ("a document twice as number and text", lambda v: [["1", 1, "2"], *v[1:]], "twice"),
    ("text", lambda v: ["1234", "4321"], "list of documents"),
    ("a dictionary", lambda v: [{"1": 1}, {"2": 2}], "list of documents"),
    ("a number", lambda v: [1, 2], "list of documents"),
    ("complex", lambda v: [["1", 1j], *v[1:]], "no id"),
    ("a frame", lambda v: pd.DataFrame({"voter": [1]}), "list of documents"),
]]  # fmt: skip

ODD = [
    *_columns("y"), *_labels("y"), *_TRUTH,
    *_columns("qid"), *_named("qid"),
    *_columns("scores"), *_labels("scores"),
    *_columns("document_ids"), *_named("document_ids"),
    *_matrices("X"), *_frames(), *_GROUPS, *_WEIGHTS, *_SEEDS, *_WHOLE, *_NAMES, *_RUNS, *_ORDERS,
    *_tables("votes", "query", "rank"), *_tables("votes", "document", "rank"), *_tables("votes", "voter", "rank"),
    *_tables("judgments", "query", "grade"), *_tables("judgments", "document", "grade"),
    *_tables("judgments", "judge", "grade"),
    *_tables("clicks", "query", "position"), *_tables("clicks", "document", "position"),
    *_tables("clicks", "page", "click"),
    *_SAMPLE_WEIGHTS, *_DOCUMENT_WEIGHTS, *_PREFERENCES, *_VOTERS,
]  # fmt: skip
