"""Export: models for other search engines and languages, each with a proof that the engine's scores are the model's.

>>> from podium.export import Target
>>> Target.parse("xgboost")
xgboost
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
