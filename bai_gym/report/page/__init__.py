"""The web page of results: one file that works from disk."""

from bai_gym.report.page.build import Page, build_page
from bai_gym.report.page.collect import collect
from bai_gym.report.page.standings import standings

__all__ = ["Page", "build_page", "collect", "standings"]
