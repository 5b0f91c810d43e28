"""Thresholding: agents that look for the arms above a threshold, or for one of them."""
