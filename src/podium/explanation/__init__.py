"""Explanations: why a document is ranked above another, and which features matter."""
