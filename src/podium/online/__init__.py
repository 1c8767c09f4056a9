"""Rankers that meet users: interleaving and its verdicts, and learning from the clicks on what is shown."""
