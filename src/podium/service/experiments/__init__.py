"""Experiments: candidate models tried against the model in use, on live traffic."""
