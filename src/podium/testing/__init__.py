"""Contract suites: checks of the properties that every registered thing must have, one function per kind.

    from podium.testing import check_loss
    check_loss(MyLoss())

A check raises AssertionError with the broken property. podium's own tests run the same checks over everything
registered. Random examples are in general position: no two scores near each other, no difference near a kink, because
losses that depend on ranks jump.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
