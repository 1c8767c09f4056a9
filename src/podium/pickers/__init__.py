"""Pickers: which queries and documents to judge next (active learning); one file per picker."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
