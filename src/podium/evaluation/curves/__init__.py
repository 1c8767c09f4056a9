"""Curves: what more judgments would bring (learning curves), and precision by recall."""
