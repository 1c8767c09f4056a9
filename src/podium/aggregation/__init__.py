"""Rank aggregation (rank fusion, metasearch), one file per method.

A new method needs its file, one line in `__init__.pyi`, and one test with one number.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
