"""Compiled functions: the only folder that imports numba."""
