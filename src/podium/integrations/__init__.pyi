from . import catboost as catboost
from . import jax as jax
from . import lightgbm as lightgbm
from . import torch as torch
from . import xgboost as xgboost
