"""Compiled pieces that several losses and distributions share."""
