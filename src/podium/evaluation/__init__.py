"""Evaluation: how good scores and runs are, and which method does best."""
