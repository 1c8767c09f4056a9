"""Clusters: training, scoring and comparisons on several machines, by Dask."""
