"""Documents as text: an index of them, search, and features for learning."""

from podium.text.analyser import Analyser as Analyser
from podium.text.candidates import dataset as dataset
from podium.text.collection import read_documents as read_documents
from podium.text.collection import read_queries as read_queries
from podium.text.features import Feature as Feature
from podium.text.features import register_feature as register_feature
from podium.text.index import Hits as Hits
from podium.text.index import Index as Index
from podium.text.retrieval import Retrieval as Retrieval
from podium.text.snippets import snippet as snippet
