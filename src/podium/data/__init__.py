"""Data: queries of documents, from files, frames, or made up; split, checked, joined."""

from podium.data.agreement import Agreement, cohen, fleiss, krippendorff
from podium.data.baidu_ultr import read_baidu_ultr
from podium.data.cache_writer import write_cache
from podium.data.check import Finding, check
from podium.data.click_files import read_clicks, write_clicks
from podium.data.click_frames import clicks_from_frame, clicks_to_frame
from podium.data.click_log import ClickLog
from podium.data.consensus import Consensus, consensus
from podium.data.dataset import Dataset
from podium.data.dawid_skene import dawid_skene
from podium.data.fold import Fold
from podium.data.folder import read_data, read_folder
from podium.data.judgments import Judgments, judgments_from_frame, read_judgments
from podium.data.letor import read_letor, write_letor
from podium.data.letor_agg import read_letor_agg
from podium.data.metarank import read_metarank
from podium.data.movielens import Ratings, read_movielens
from podium.data.nbest import read_nbest
from podium.data.open_bandit import read_open_bandit
from podium.data.pooling import Pool, pool, write_sheet
from podium.data.preference_file import read_preferences, write_preferences
from podium.data.preferences import Preferences
from podium.data.preflib import read_preflib
from podium.data.rankings import Rankings
from podium.data.rankings_files import read_rankings, read_runs
from podium.data.rankings_table import rankings_from_frame
from podium.data.splits import k_folds, split
from podium.data.synthetic import make_letor_like
from podium.data.tables import from_frame, read_table, to_frame
from podium.data.tiangong import read_tiangong
from podium.data.trec import Judged, Qrels, Run, join, read_qrels, read_run, write_qrels, write_run
from podium.data.ubi import read_ubi
from podium.data.yandex import read_yandex

__all__ = [
    "Agreement",
    "ClickLog",
    "Consensus",
    "Dataset",
    "Finding",
    "Fold",
    "Judged",
    "Judgments",
    "Pool",
    "Preferences",
    "Qrels",
    "Rankings",
    "Ratings",
    "Run",
    "check",
    "clicks_from_frame",
    "clicks_to_frame",
    "cohen",
    "consensus",
    "dawid_skene",
    "fleiss",
    "from_frame",
    "join",
    "judgments_from_frame",
    "k_folds",
    "krippendorff",
    "make_letor_like",
    "pool",
    "rankings_from_frame",
    "read_baidu_ultr",
    "read_clicks",
    "read_data",
    "read_folder",
    "read_judgments",
    "read_letor",
    "read_letor_agg",
    "read_metarank",
    "read_movielens",
    "read_nbest",
    "read_open_bandit",
    "read_preferences",
    "read_preflib",
    "read_qrels",
    "read_rankings",
    "read_run",
    "read_runs",
    "read_table",
    "read_tiangong",
    "read_ubi",
    "read_yandex",
    "split",
    "to_frame",
    "write_cache",
    "write_clicks",
    "write_letor",
    "write_preferences",
    "write_qrels",
    "write_run",
    "write_sheet",
]
