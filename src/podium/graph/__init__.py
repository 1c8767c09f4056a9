"""Link analysis: PageRank and HITS from the links between nodes, BrowseRank from the visits of users."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
