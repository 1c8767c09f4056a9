"""Families of systems tested together: Tukey's test, and letters of those that do not differ."""
