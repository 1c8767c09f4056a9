"""Behaviour features: what users were shown and clicked before a results page, as numbers about its documents.

A new one needs its class, one line in `__init__.pyi`, and one test.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
