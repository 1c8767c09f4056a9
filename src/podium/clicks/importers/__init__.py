"""Importers: click logs of other systems."""
