"""The Learning to Rank plugin of OpenSearch: the body of `POST _ltr/_featureset/SET/_createmodel`."""

from __future__ import annotations

from podium.base.registry import register
from podium.export.elasticsearch_ltr import ElasticsearchLTR


@register
class OpenSearchLTR(ElasticsearchLTR):
    """As for Elasticsearch: the plugins read the same files. NaN has its own side from OpenSearch 3.3 on."""

    name = "opensearch-ltr"
