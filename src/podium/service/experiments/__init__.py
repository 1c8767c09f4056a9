"""Experiments on live users: A/B tests, interleaving and shadows of a candidate model against the model in use."""
