"""Small helpers of arrays."""

import sys
import types

import numpy as np
import scipy.sparse as sp

from podium.base.arrays import dense, is_sparse


def test_sparse_matrices_are_known():
    assert is_sparse(sp.csr_array(np.eye(2)))
    assert not is_sparse(np.eye(2))
    assert dense(sp.csr_array(np.eye(2))).tolist() == [[1, 0], [0, 1]]


def test_arrays_are_told_apart_while_another_thread_imports_scipy(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.sparse", types.ModuleType("scipy.sparse"))
    assert not is_sparse(np.eye(2))
    assert not is_sparse([[1.0]])
