"""Self-contained learning algorithms, which are not a recipe of loss, scorer and solver; one file each."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
