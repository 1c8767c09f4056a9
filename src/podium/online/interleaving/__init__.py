"""Interleaving methods, one file each. A new one: its file, one import line here, one test."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
