"""Writes the table of operations in docs/ir.md from `zyg.ir.ops`: `python docs/op_table.py`."""

from __future__ import annotations

from pathlib import Path

from zyg.ir.ops import OPS, Op

PAGE = Path(__file__).with_name("ir.md")
BEGIN = "<!-- op table: made by docs/op_table.py -->"
END = "<!-- end of op table -->"

EFFECTS = {
    "pure": "none",
    "read": "reads memory",
    "write": "writes memory",
    "check": "may raise",
    "value_check": "may raise while its value is used",
    "effect": "any",
}


def derivative(op: Op) -> str:
    if callable(op.vjp):
        return "rule"
    return {"none": "none", "structural": "structural"}[op.vjp]


def row(op: Op) -> str:
    text = op.doc.replace("|", "\\|").replace("<", "&lt;")
    return f"| `{op.name}` | {text} | {EFFECTS[op.effects]} | {derivative(op)} |"


def table() -> str:
    parts = []
    for level, title in (("machine", "Machine operations"), ("python", "Python operations")):
        parts += [f"### {title}", "", "| op | meaning | effects | derivative |", "|---|---|---|---|"]
        parts += [row(op) for op in OPS.values() if op.level == level]
        parts.append("")
    return "\n".join(parts)


def page(text: str) -> str:
    """`text` with the table brought up to date."""
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    return f"{before}{BEGIN}\n\n{table()}\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text()))
