"""Arenas: strengths of players from battles, with intervals of strengths and ranks, and which pair to ask next."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
