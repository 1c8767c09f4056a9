"""Compiled functions that several losses and distributions share."""
