"""Packages nobody would write, and what scanbuild makes of them."""
