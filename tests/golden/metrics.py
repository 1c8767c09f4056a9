"""Numbers that other tools give for one small data set of four queries, as facts to compare with.

q1: four documents of equal score; q2: nothing relevant; q3: the perfect order; q4: twelve documents, one relevant
at rank 3. Each number is the tool's mean over the four queries. Where a tool prints few digits, so stand they here.
Made with trec_eval 9.0.8 and 10.0-rc3, pytrec_eval on trec_eval 9, ir_measures (exp-log2: its gdeval), ranx,
scikit-learn (`ndcg_score`; exp: labels transformed first), LightGBM 4.6, XGBoost 3.2, CatBoost 1.2.10, RankLib (2020),
and the Perl scripts of LETOR 4.0 and MSLR-WEB. XGBoost's `map` and `pre` got labels cut to 0/1.
"""

from __future__ import annotations

SCORES = [0.0] * 4 + [3.0, 2.0, 1.0] + [3.0, 2.0, 1.0] + [float(s) for s in range(12, 0, -1)]
LABELS = [0, 2, 1, 0] + [0, 0, 0] + [2, 1, 0] + [0, 0, 2] + [0] * 9
OFFSETS = [0, 4, 7, 10, 22]
DOCUMENT_IDS = [f"d{place:02d}" for size in (4, 3, 3, 12) for place in range(size)]

EXACT = 1e-9
FOUR_DIGITS = 5e-5
FIVE_DIGITS = 5e-6

VALUES: dict[tuple[str, str, float], dict[str, float]] = {
    ("LightGBM", "lightgbm", EXACT): {
        "ndcg@1": 0.5,
        "ndcg@3": 0.7897504512006033,
        "ndcg@10": 0.7897504512006033,
        "map@1": 0.5,
        "map@3": 0.7291666666666666,
        "map@10": 0.7291666666666666,
    },
    ("XGBoost", "xgboost", EXACT): {
        "ndcg@1": 0.5,
        "ndcg@3": 0.7897504512006033,
        "ndcg@10": 0.7897504512006033,
        "ndcg@3-": 0.5397504512006033,
        "ndcg@10-": 0.5397504512006033,
        "map@10": 0.7291666666666666,
        "map@10-": 0.47916666666666663,
        "pre@3": 0.41666666666666663,
        "pre@10": 0.31666666666666665,
    },
    ("CatBoost", "catboost", EXACT): {
        "NDCG:top=1;type=Exp": 0.5,
        "NDCG:top=3;type=Exp": 0.6594264440470233,
        "NDCG:top=10;type=Exp": 0.7483864186202929,
        "NDCG:top=3;type=Base": 0.6725117208394917,
        "NDCG:top=10;type=Base": 0.7543604584366768,
        "MAP:top=10": 0.43749999999999994,
        "MRR:top=10": 0.41666666666666663,
        "PrecisionAt:top=3": 0.3333333333333333,
        "PrecisionAt:top=10": 0.31666666666666665,
        "RecallAt:top=3": 0.875,
    },
    ("scikit-learn", "sklearn", EXACT): {
        "ndcg@1": 0.34375,
        "ndcg@3": 0.5268662093703811,
        "ndcg@10": 0.5575594859693255,
        "ndcg@1[gain=exp2]": 0.3333333333333333,
        "ndcg@3[gain=exp2]": 0.52172066785893,
        "ndcg@10[gain=exp2]": 0.5513739927166865,
    },
    ("pytrec_eval", "trec", EXACT): {
        "map": 0.47916666666666663,
        "recip_rank": 0.4583333333333333,
        "P_3": 0.41666666666666663,
        "P_10": 0.125,
        "recall_3": 0.75,
        "ndcg_cut_1": 0.25,
        "ndcg_cut_3": 0.5299765583210164,
        "ndcg_cut_10": 0.5299765583210164,
        "map_cut_10": 0.47916666666666663,
    },
    ("trec_eval 9.0.8", "trec", FOUR_DIGITS): {
        "map": 0.4792,
        "recip_rank": 0.4583,
        "P.3": 0.4167,
        "P.10": 0.125,
        "ndcg_cut.1": 0.25,
        "ndcg_cut.3": 0.53,
        "ndcg_cut.10": 0.53,
    },
    ("trec_eval 10.0-rc3", "trec10", FOUR_DIGITS): {
        "map": 0.4792,
        "recip_rank": 0.4583,
        "P.3": 0.4167,
        "P.10": 0.125,
        "ndcg_cut.1": 0.25,
        "ndcg_cut.3": 0.53,
        "ndcg_cut.10": 0.53,
    },
    ("ir_measures", "trec", EXACT): {
        "RR": 0.4583333333333333,
        "P@10": 0.125,
        "nDCG@3": 0.5299765583210164,
        "AP@10": 0.47916666666666663,
        "AP": 0.47916666666666663,
        "P@3": 0.41666666666666663,
        "nDCG@10": 0.5299765583210164,
        "nDCG@1": 0.25,
    },
    ("ir_measures, all queries of gdeval counted", "gdeval", FIVE_DIGITS): {
        "nDCG(dcg='exp-log2')@3[empty=zero]": 0.52172,
        "nDCG(dcg='exp-log2')@10[empty=zero]": 0.52172,
    },
    ("ranx", "ranx", EXACT): {
        "ndcg@1": 0.25,
        "ndcg@3": 0.5424179541235575,
        "ndcg@10": 0.5424179541235575,
        "ndcg_burges@3": 0.5397504512006033,
        "ndcg_burges@10": 0.5397504512006033,
        "map@10": 0.47916666666666663,
        "mrr": 0.4583333333333333,
        "precision@3": 0.41666666666666663,
        "precision@10": 0.125,
        "recall@3": 0.75,
    },
    ("LETOR 4.0 script", "letor4", FOUR_DIGITS): {
        "NDCG@1": 0.2500,
        "NDCG@3": 0.6347,
        "NDCG@10": 0.1577,
        "MAP": 0.4792,
        "P@3": 0.4167,
        "P@10": 0.1250,
    },
    ("MSLR script", "mslr", FOUR_DIGITS): {
        "NDCG@1": 0.2500,
        "NDCG@3": 0.6347,
        "NDCG@10": 0.1577,
        "MAP": 0.4583,
        "P@3": 0.2500,
        "P@10": 0.0750,
    },
    ("RankLib", "ranklib", FOUR_DIGITS): {
        "NDCG@1": 0.2500,
        "NDCG@3": 0.5398,
        "NDCG@10": 0.5398,
        "NDCG": 0.5398,
        "MAP": 0.4792,
        "P@3": 0.4167,
        "P@10": 0.3167,
        "RR@10": 0.4583,
    },
}
"""(tool, our preset, tolerance) → the tool's spelling → its number."""
