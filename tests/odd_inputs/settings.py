"""Sizes, weights, seeds, names, runs, orders: what stands beside data."""

import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from odd_inputs.plain import EQUAL, QUERIES, ROWS, TEXT, N, Odd, masked, replaced

GROUPS = [Odd(name, "group", make, *rest) for name, make, *rest in [
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

WEIGHTS = [Odd(name, "query_weights", make, *rest) for name, make, *rest in [
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

SAMPLE_WEIGHTS = [Odd(name, "sample_weight", make, *rest) for name, make, *rest in [
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
    ("different within a query", lambda v: [*v[:-1], 9.0], "weights of rows"),
    ("all zero", lambda v: [0.0] * N, "zero"),
]]  # fmt: skip

DOCUMENT_WEIGHTS = [Odd(name, "document_weights", make, *rest) for name, make, *rest in [
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

PREFERENCES = [Odd(name, "preferences", make, *rest) for name, make, *rest in [
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

VOTERS = [Odd(name, "weights of voters", make, *rest) for name, make, *rest in [
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

SEEDS = [Odd(name, "seed", make, *rest) for name, make, *rest in [
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
SEEDS += [
    Odd("None", "seed of podium", lambda v: None, "seed"),
    Odd("Generator", "seed of podium", lambda v: np.random.default_rng(v), "seed"),
]

WHOLE = [Odd(name, "whole", make, *rest) for name, make, *rest in [
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

NAMES = [Odd(name, "names", make, *rest) for name, make, *rest in [
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

RUNS = [Odd(name, argument, make, *rest) for argument in ("run", "qrels") for name, make, *rest in [
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

ORDERS = [Odd(name, "orders", make, *rest) for name, make, *rest in [
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
