"""Loss functions, one file each. A new one needs a file, a line in `__init__.pyi`, and a test by its paper."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
