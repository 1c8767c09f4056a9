"""Clicks: models of them, and the labels, preferences and weights that they give."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
