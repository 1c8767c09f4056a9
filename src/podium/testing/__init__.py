"""The contract suites: what everything registered promises, with one function for each kind.

    from podium.testing import check_loss
    check_loss(MyLoss())

A check raises AssertionError and says what broke. podium's own tests run the same checks over everything registered.
Examples are drawn in general position: no two scores near each other, no difference near a kink, because losses that
look at ranks jump.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
