from podium import methods
from podium.losses import RankNet
from podium.recipe import Recipe
from podium.scorers import Trees
from podium.solvers import Boosting
from podium.transforms import Identity

recipe = Recipe(loss=RankNet(), scorer=Trees(num_leaves=4), solver=Boosting(), transform=Identity())
STOCKY = methods.Method(recipe, grid={"learning_rate": (0.05, 0.1)}, family="pairwise")
methods.register_method("stocky", STOCKY)
