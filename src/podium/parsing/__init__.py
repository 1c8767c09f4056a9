"""Byte kernels: words, ids, decimals and lines of text files."""
