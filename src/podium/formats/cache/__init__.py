"""Caches: data on disk that need not fit into memory."""
