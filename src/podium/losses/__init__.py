"""The losses, one file each. A new one: its file, one line in `__init__.pyi`, one test with a number of its paper."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
