"""Scores of nodes from the links between them, or from the visits of people: PageRank, HITS, BrowseRank."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
