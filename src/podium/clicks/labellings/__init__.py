"""Relevance labels from clicks, one file per labelling.

A new one needs its file, one line in `__init__.pyi`, and one test.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
