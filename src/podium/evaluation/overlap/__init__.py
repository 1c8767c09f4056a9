"""Overlap of rankings without judgments: of two lists, and of runs."""
