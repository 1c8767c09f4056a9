"""Hybrid search: learned weights of first stages for engines that add up normalised scores."""
