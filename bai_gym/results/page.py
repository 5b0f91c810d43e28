"""The frame of a plain web page: one file of HTML, which loads nothing and runs no script."""

from __future__ import annotations

import html

__all__ = ["html_page"]

_STYLE = """
:root { color-scheme: light dark; --line: #8888; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; }
h2 { font-size: 1.2rem; }
table { border-collapse: collapse; width: 100%; }
th, td { padding: .25rem .75rem .25rem 0; text-align: right; border-bottom: 1px solid var(--line); }
th:first-child, td:first-child { text-align: left; overflow-wrap: anywhere; }
"""


def html_page(title: str, body: str, style: str = "") -> str:
    """Return a page.

    Args:
        title: Its title and first heading, as text.
        body: What follows, as HTML.
        style: Further rules of CSS.
    """
    heading = html.escape(title)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{heading}</title>
<style>{_STYLE}{style}</style>
</head>
<body>
<h1>{heading}</h1>
{body}
</body>
</html>
"""
