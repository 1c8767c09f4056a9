from .dataset import Dataset as Dataset
from .doctor.check import Finding as Finding
from .doctor.check import check as check
from .fold import Fold as Fold
from .preferences import Preferences as Preferences
from .splits import k_folds as k_folds
from .splits import split as split
from .synthetic import make_letor_like as make_letor_like
