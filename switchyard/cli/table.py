"""Tables as wide as the terminal: long texts are cut, ids and times are short.

Where output goes to a file or a program, nothing is cut. Empty columns are left out. Lines are plain text,
so a hundred thousand rows print in seconds.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from textwrap import wrap
from typing import Any, NamedTuple
from uuid import UUID

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from switchyard.cli.ids import short
from switchyard.cli.output import STYLES, as_text, console, local_short, terminal_width

GAP = "  "
NARROWEST = 6
_CODES = {
    "bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "blue": "34", "magenta": "35",
    "cyan": "36",
}  # fmt: skip


class Column(NamedTuple):
    """One column: its heading, its cells, and whether they may be cut."""

    heading: str
    cells: list[str]
    cut: bool


def print_table(
    rows: Sequence[Mapping[str, Any]], fields: str, nothing: str, *, folded: bool = False
) -> None:
    """A table of these fields (`field` or `field=heading`), or the sentence where there are no rows.

    `folded`: the last column continues on the next line instead of being cut.
    """
    if not rows:
        print(nothing)
        return
    screen = console()
    coloured = screen.is_terminal and not screen.no_color and screen.color_system is not None
    for line in table_lines(rows, fields, terminal_width(), coloured=coloured, folded=folded):
        print(line)


def table_text(rows: Sequence[Mapping[str, Any]], fields: str, width: int) -> Text:
    """The same for a live view."""
    return Text.from_ansi("\n".join(table_lines(rows, fields, width, coloured=True)))


def table_lines(
    rows: Sequence[Mapping[str, Any]],
    fields: str,
    width: int | None,
    *,
    coloured: bool = False,
    folded: bool = False,
) -> Iterator[str]:
    """The lines of a table, the headings first."""
    columns = [_column(rows, field) for field in fields.split()]
    columns = [column for column in columns if any(column.cells)]
    widths = _widths(columns, width)
    yield _style(_line([column.heading for column in columns], widths), "bold", coloured)
    for cells in zip(*(column.cells for column in columns), strict=True):
        yield from _row(cells, widths, coloured, folded)


def _column(rows: Sequence[Mapping[str, Any]], field: str) -> Column:
    name, _, heading = field.partition("=")
    heading = (heading or name).replace("_", " ")
    values = [row.get(name) for row in rows]
    now = datetime.now().astimezone()
    cells = [_cell(value, now) for value in values]
    if any(isinstance(value, datetime) for value in values):
        heading = f"{heading} {now:%Z}"
    cut = name not in {"status", "state"} and any(isinstance(value, str | dict | list) for value in values)
    return Column(heading, cells, cut)


def _cell(value: object, now: datetime) -> str:
    if isinstance(value, UUID):
        return short(value)
    if isinstance(value, datetime):
        return local_short(value, now)
    return as_text(value).replace("\n", " ")


def _widths(columns: Sequence[Column], room: int | None) -> list[int]:
    """The widest cell of each column; where that is too much, the widest that may be cut give way."""
    widths = [max(map(cell_len, (column.heading, *column.cells))) for column in columns]
    if room is None:
        return widths
    least = [min(NARROWEST, width) for width in widths]
    while (over := sum(widths) + len(GAP) * (len(widths) - 1) - room) > 0:
        widest = max(
            (place for place, column in enumerate(columns) if column.cut and widths[place] > least[place]),
            key=lambda place: widths[place],
            default=None,
        )
        if widest is None:
            break
        others = [widths[place] for place, column in enumerate(columns) if column.cut and place != widest]
        step = max(1, widths[widest] - max([*others, least[widest]]))
        widths[widest] -= min(over, step, widths[widest] - least[widest])
    return widths


def _row(cells: Sequence[str], widths: Sequence[int], coloured: bool, folded: bool) -> Iterator[str]:
    lines = wrap(cells[-1], max(widths[-1], NARROWEST)) if folded else []  # none for blanks alone
    first, *rest = lines or [cells[-1]]
    yield _line([*cells[:-1], first], widths, coloured)
    indent = " " * sum(width + len(GAP) for width in widths[:-1])
    yield from (indent + line for line in rest)


def _line(cells: Sequence[str], widths: Sequence[int], coloured: bool = False) -> str:
    parts = [
        _style(_sized(text, width), STYLES.get(text, ""), coloured)
        for text, width in zip(cells, widths, strict=True)
    ]
    return GAP.join(parts).rstrip()


def _sized(text: str, width: int) -> str:
    if text.isascii() and len(text) <= width:
        return text.ljust(width)
    return (
        text + " " * (width - cell_len(text))
        if cell_len(text) <= width
        else set_cell_size(text, width - 1) + "…"
    )


def _style(text: str, style: str, coloured: bool) -> str:
    if not style or not coloured:
        return text
    codes = ";".join(_CODES[word] for word in style.split())
    return f"\x1b[{codes}m{text}\x1b[0m"
