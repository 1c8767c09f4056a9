"""Losses of podium inside other libraries: torch, JAX, LightGBM, XGBoost and CatBoost."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
