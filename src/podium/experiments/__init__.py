"""Experiments: folds × methods × seeds, in parallel; finished tasks are saved, and a killed experiment continues."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
