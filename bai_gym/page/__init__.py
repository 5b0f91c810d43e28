"""The web page of results: one file that works from disk."""

from bai_gym.page.build import Page, build_page
from bai_gym.page.collect import collect
from bai_gym.page.standings import standings

__all__ = ["Page", "build_page", "collect", "standings"]
