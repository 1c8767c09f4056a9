"""Online evaluation and online learning to rank: interleaving, its verdicts, and learning from clicks."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
