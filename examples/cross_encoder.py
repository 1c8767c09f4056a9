"""Fine-tune a cross-encoder of sentence-transformers by a loss of podium: one step per query.

    python examples/cross_encoder.py judged.jsonl --model cross-encoder/ms-marco-MiniLM-L6-v2 -o tuned

judged.jsonl has lines {"query": …, "texts": [document, …], "grades": [0 or more, …]}.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import podium


def main(argv: Sequence[str] | None = None) -> None:
    import torch
    from sentence_transformers import CrossEncoder

    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("judged", type=Path)
    options.add_argument("--model", required=True, help="name or folder of a cross-encoder with one output")
    options.add_argument("--loss", default="lambdarank(metric=ndcg@10)", help="any loss of podium")
    options.add_argument("--epochs", type=int, default=1)
    options.add_argument("--rate", type=float, default=2e-5, help="learning rate of AdamW")
    options.add_argument("-o", "--output", required=True)
    chosen = options.parse_args(argv)

    lists = [json.loads(line) for line in chosen.judged.read_text(encoding="utf-8").splitlines()]
    encoder, criterion = CrossEncoder(chosen.model), podium.integrations.torch.loss(chosen.loss)
    optimiser = torch.optim.AdamW([*encoder.parameters(), *criterion.parameters()], lr=chosen.rate)
    for epoch in range(chosen.epochs):
        total = 0.0
        for judged in lists:
            pairs = [[judged["query"]] * len(judged["texts"]), judged["texts"]]
            tokens = encoder.tokenizer(*pairs, padding=True, truncation=True, return_tensors="pt").to(encoder.device)
            loss = criterion(encoder.model(**tokens).logits[:, 0], judged["grades"])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            total += loss.item()
        print(f"epoch {epoch + 1}: mean loss {total / len(lists):.4f}")
    encoder.save_pretrained(chosen.output)


if __name__ == "__main__":
    main()
