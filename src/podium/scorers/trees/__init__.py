"""Regression trees: the scorer, forests as arrays, LightGBM's text and data, and fast scoring."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
