"""Solvers (optimisers), one file each; early stopping in `early_stopping`."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
