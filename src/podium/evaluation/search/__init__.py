"""Evaluation of search: the first stage, tuned, and rankings learned from its candidates."""
