from .engine import Answer as Answer
from .engine import Engine as Engine
from .text_ranker import RankedText as RankedText
from .text_ranker import TextRanker as TextRanker
