"""podium inside other libraries: losses in torch, JAX and boosters; ranking in pipelines of search and of texts.

Modules that define classes of another library (`langchain`, `llama_index`, `haystack`, `rerankers`, `pyterrier`,
`ir_datasets`, `mlflow`) import it, and so are imported by name only, as in
`from podium.integrations.langchain import Reranker`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
