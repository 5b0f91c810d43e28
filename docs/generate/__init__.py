"""Generates pages of the documentation from the code when the site is built."""
