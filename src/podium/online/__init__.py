"""Rankers that meet users: interleaving and its verdicts, and learning from the clicks on what is shown."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
