"""First-stage retrieval: BM25, query likelihood, dense vectors, hybrid; filters; candidates of queries; LSI."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
