"""Online learning to rank: results pages serve users and explore. One file per learner."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
