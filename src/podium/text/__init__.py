"""Text: analyse, index and search documents, and compute features for learning to rank."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
