"""Retrieval: BM25, query likelihood, dense vectors, LSI; candidates of queries."""
