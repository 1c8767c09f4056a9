"""Ranking service: models behind HTTP, swapped while it runs, with durable feedback. See: podium serve --help."""
