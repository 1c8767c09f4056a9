"""Clusters: training, scoring and experiments on several machines, by Dask."""
