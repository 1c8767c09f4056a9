"""Click models, one file per model. A new model: its file, one import line here, one test with one number."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
