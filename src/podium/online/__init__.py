"""Learning while people search: each page is shown to learn from its clicks, and to serve who sees it."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
