"""Frames: of documents, rankings, judgments and clicks."""

import decimal
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from odd_inputs.plain import EQUAL, FEATURES, ROWS, N, Odd, objects


def frames() -> list[Odd]:
    """What holds a row per document: columns qid, label and features; made from a plain pandas frame."""

    def column(name: str, make: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda f: f.assign(**{name: make(f[name])})

    def polars(**types: Any) -> Callable[[Any], Any]:
        return lambda f: pl.from_pandas(f).with_columns(*(pl.col(name).cast(kind) for name, kind in types.items()))

    def text_ids(f: Any) -> Any:
        return f.assign(qid=[str(x) for x in f["qid"]])

    def unjudged(f: Any) -> Any:
        return f.assign(label=[np.nan if row == 3 else float(x) for row, x in enumerate(f["label"])])

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
        ("an NA label", column("label", lambda s: s.astype("Int64").where(ROWS != 3)), None, unjudged),
        ("a NaN label", column("label", lambda s: s.where(ROWS != 3)), None, unjudged),
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


def tables(argument: str, id_column: str, number: str) -> list[Odd]:
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
