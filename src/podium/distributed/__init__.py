"""Distributed training, scoring and comparisons, on a Dask cluster of several machines."""
