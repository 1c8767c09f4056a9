"""Click models: PBM, UBM, cascade, DCM, CCM, DBN and click rates, one file per model.

A new model needs its file, one line in `__init__.pyi`, and a test with a number.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
