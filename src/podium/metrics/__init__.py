"""Metrics of ranking quality (IR metrics), one per file; `conventions.py` has how tools differ.

A new metric needs its file here and one line in `__init__.pyi`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
