"""Regression trees: the scorer, the forest it is made of, LightGBM's text and data, and quick scoring."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
