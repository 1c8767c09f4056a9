"""Features of documents for a query. A new one: its class in the file of its family, and one import line here."""

from podium.text.features import document as document
from podium.text.features import language_models as language_models
from podium.text.features import matching as matching
from podium.text.features import over_words as over_words
from podium.text.features import proximity as proximity
from podium.text.features import query_level as query_level
from podium.text.features import similarity as similarity
from podium.text.features import vectors as vectors
from podium.text.features.base import Feature as Feature
from podium.text.features.base import Plan as Plan
from podium.text.features.base import register_feature as register_feature
from podium.text.features.sets import SETS as SETS
from podium.text.features.sets import read_features as read_features
