"""Scores of nodes from the links between them, or from the visits of people: PageRank, HITS, BrowseRank."""

from podium.graph.browserank import browserank as browserank
from podium.graph.hits import HITS as HITS
from podium.graph.hits import hits as hits
from podium.graph.links import Links as Links
from podium.graph.links import make_links as make_links
from podium.graph.links import read_links as read_links
from podium.graph.pagerank import pagerank as pagerank
from podium.graph.visits import Visit as Visit
from podium.graph.visits import read_visits as read_visits
