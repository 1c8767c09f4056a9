"""Regression trees: the scorer, the forest it is made of, LightGBM's text and data, and quick scoring."""

from podium.scorers.trees.trees import Trees as Trees
