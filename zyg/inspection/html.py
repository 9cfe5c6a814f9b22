"""Listings and tables as HTML, for notebooks: what a `_repr_html_` gives. Styles are inline, as notebooks strip style sheets."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from typing import Any

_MONOSPACE = "font-family:monospace;line-height:1.3"
# What the codes of `zyg.ir.text.ansi` look like on a page, on a light ground and on a dark one.
_STYLES = {
    "1": "font-weight:bold",
    "2": "opacity:0.6",
    "32": "color:#3a923a",
    "33": "color:#b8860b",
    "34": "color:#3b6fd4",
    "35": "color:#b04fbf",
    "36": "color:#2a8c8c",
}
_ESCAPE = re.compile(r"\x1b\[([\d;]*)m")


def listing(coloured: str) -> str:
    """Text with terminal colours as a block of HTML.

    >>> listing("a < b")
    '<pre style="font-family:monospace;line-height:1.3">a &lt; b</pre>'
    """
    parts: list[str] = []
    open_ = False
    pieces = _ESCAPE.split(coloured)
    for text, codes in zip(pieces[::2], [*pieces[1::2], ""]):
        parts.append(html.escape(text, quote=False))
        if open_:
            parts.append("</span>")
        style = ";".join(filter(None, map(_STYLES.get, codes.split(";"))))
        open_ = bool(style)
        if open_:
            parts.append(f'<span style="{style}">')
    return f'<pre style="{_MONOSPACE}">{"".join(parts)}</pre>'


def table(header: Sequence[str], rows: Iterable[Sequence[Any]], caption: str = "") -> str:
    """A table of text; the cells are escaped, unless they are `Markup`."""
    cell = "text-align:left;padding:2px 10px;vertical-align:top"
    lines = ["<table>"]
    if caption:
        lines.append(f'<caption style="text-align:left;font-weight:bold">{markup(caption)}</caption>')
    lines.append("<tr>" + "".join(f'<th style="{cell}">{markup(h)}</th>' for h in header) + "</tr>")
    for row in rows:
        lines.append("<tr>" + "".join(f'<td style="{cell}">{markup(c)}</td>' for c in row) + "</tr>")
    return "\n".join([*lines, "</table>"])


class Markup(str):
    """Text that is HTML already."""


def markup(value: Any) -> Markup:
    return value if isinstance(value, Markup) else Markup(html.escape(str(value), quote=False))


def code(text: str) -> Markup:
    """A piece of code."""
    return Markup(f'<code style="white-space:pre">{html.escape(text, quote=False)}</code>')


__all__ = ["Markup", "code", "listing", "markup", "table"]
