"""Comparison of methods on judged data: folds × methods × seeds, in parallel; an interrupted one can be resumed."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
