"""Off-policy (counterfactual) evaluation: the value of rankers, estimated from the clicks on other rankers' results."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
