"""Learners of other learners: bagging, stacking, adaptation, self-training; one file each."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
