"""TREC files: qrels and runs."""
