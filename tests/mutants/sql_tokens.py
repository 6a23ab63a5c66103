"""The words of a SQL file and how deep in parentheses each is; comments, and statements that comment, are left out."""

import re
from dataclasses import dataclass

_TOKEN = re.compile(
    rb"""(?P<comment>--[^\n]*)|(?P<string>'(?:[^']|'')*')|(?P<dollar>\$\w*\$)|(?P<word>[A-Za-z_#][\w.]*)"""
    rb"""|(?P<number>\d[\d.]*(?:e-?\d+)?)|(?P<op><=|>=|<>|:=|=>|\|\||::|->>|->|[-+*/<>=(),;\[\]])""",
    re.VERBOSE,
)
_COMMENT_ON = re.compile(rb"^comment on .*?';$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Token:
    kind: str
    text: str
    start: int
    end: int
    depth: int


def tokens(source: bytes) -> list[Token]:
    """All words, operators, numbers and texts in order; a parenthesis has the depth of what is around it."""
    blank = _COMMENT_ON.sub(lambda found: b" " * len(found[0]), source)
    found, depth, between = list[Token](), 0, set[int]()
    for match in _TOKEN.finditer(blank):
        kind, text = str(match.lastgroup), match[0].decode()
        if kind == "comment":
            continue
        if kind == "word":
            text = text.lower()
        depth -= text in (")", "]")
        if text == "between":
            between.add(depth)
        elif text == "and" and depth in between:
            between.remove(depth)
            kind = "range"  # no operator: `between x and y` is one condition
        found.append(Token(kind, text, match.start(), match.end(), depth))
        depth += text in ("(", "[")
    return found
