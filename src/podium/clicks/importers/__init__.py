"""Importers of click logs: UBI, Metarank, Open Bandit, Baidu-ULTR, TianGong-ST and Yandex."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
