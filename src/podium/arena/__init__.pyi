from .battles import Battles as Battles
from .battles import battles_from_frame as battles_from_frame
from .battles import read_battles as read_battles
from .next_pairs import NextPair as NextPair
from .next_pairs import next_pairs as next_pairs
from .rate import rate as rate
from .rating import Rating as Rating
