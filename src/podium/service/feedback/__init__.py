"""Feedback: impressions, clicks and judgments in one SQLite file."""
