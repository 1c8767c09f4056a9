"""Evaluation by few human and many machine labels, trust in judges, and weighted queries."""
