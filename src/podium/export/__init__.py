"""Export: a model for another engine, with a proof that the engine scores as the model does.

>>> from podium.export import Target
>>> Target.parse("xgboost")
xgboost
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
