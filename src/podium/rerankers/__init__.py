"""Re-rankers: put the documents of a query into an order that is good as a whole, e.g. diverse; one file per method."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
