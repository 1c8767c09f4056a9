"""Data: queries of documents, from files, frames, or made up; split, checked, joined."""

from podium.data.dataset import Dataset
from podium.data.folder import Fold, read_data, read_folder
from podium.data.letor import read_letor, write_letor
from podium.data.preference_file import read_preferences, write_preferences
from podium.data.preferences import Preferences
from podium.data.splits import k_folds, split
from podium.data.synthetic import make_letor_like

__all__ = [
    "Dataset",
    "Fold",
    "Preferences",
    "k_folds",
    "make_letor_like",
    "read_data",
    "read_folder",
    "read_letor",
    "read_preferences",
    "split",
    "write_letor",
    "write_preferences",
]
