"""Index and model together: search with re-ranking, and ranking of texts that are not in the index."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
