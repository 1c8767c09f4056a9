"""Import models of LightGBM, XGBoost, CatBoost and RankLib, from files that need not be trusted."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
