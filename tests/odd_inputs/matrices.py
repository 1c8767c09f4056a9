"""Matrices of features, dense and sparse."""

import decimal
import fractions
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from odd_inputs.plain import TEXT, N, Odd, holes, masked, read_only, strided, structured


def matrices(argument: str) -> list[Odd]:
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
