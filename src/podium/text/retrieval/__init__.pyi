from .base import Retrieval as Retrieval
from .base import WordRetrieval as WordRetrieval
from .bm25 import BM25 as BM25
from .dense import Hybrid as Hybrid
from .dense import VectorRetrieval as VectorRetrieval
from .query_likelihood import QueryLikelihood as QueryLikelihood
from .sdm import SequentialDependence as SequentialDependence
