"""OpenSearch Learning to Rank plugin: the body of `POST _ltr/_featureset/SET/_createmodel`."""

from __future__ import annotations

from podium.base.registry import register
from podium.export.elasticsearch_ltr import ElasticsearchLTR


@register
class OpenSearchLTR(ElasticsearchLTR):
    """OpenSearch LTR plugin: the same files as for Elasticsearch. NaN has its own side from OpenSearch 3.3 on."""

    name = "opensearch-ltr"
