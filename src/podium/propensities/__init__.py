"""Estimators of propensities, one file per estimator. A new one: its file, one line in `__init__.pyi`, one test."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
