"""LETOR (SVMlight) files."""
