"""Explanations of rankings: feature attribution, feature importance and counterfactual changes."""
