"""Export: a model for another engine, with a proof that the engine scores as the model does.

>>> from podium.export import Target
>>> Target.parse("xgboost")
xgboost
"""

from podium.export.base import Target as Target
from podium.export.c import C as C
from podium.export.elastic import Elastic as Elastic
from podium.export.elasticsearch_ltr import ElasticsearchLTR as ElasticsearchLTR
from podium.export.export import export as export
from podium.export.export import prove_file as prove_file
from podium.export.lightgbm import LightGBM as LightGBM
from podium.export.onnx import ONNX as ONNX
from podium.export.opensearch_ltr import OpenSearchLTR as OpenSearchLTR
from podium.export.proof import Proof as Proof
from podium.export.proving import prove as prove
from podium.export.python import Python as Python
from podium.export.ranklib import RankLib as RankLib
from podium.export.solr import Solr as Solr
from podium.export.vespa import Vespa as Vespa
from podium.export.xgboost import XGBoost as XGBoost
