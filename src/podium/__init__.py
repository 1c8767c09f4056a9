"""podium: learning to rank. Train, evaluate and serve ranking models, with calibrated probabilities of ranks.

    >>> import podium
    >>> data, _ = podium.make_letor_like(30, seed=1)
    >>> train, test = podium.split(data, (0.8, 0.2))
    >>> model = podium.train(train, "listnet")
    >>> podium.evaluate(test, model.score(test), "ndcg@10").means()["ndcg@10"].value > 0.5
    True

`__init__.pyi` lists the public names, here and in every subpackage. Each is imported on first use, so that
`import podium` takes almost no time.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
