"""Stages: retrievals made of other retrievals, which join, cut or score again what those return."""
