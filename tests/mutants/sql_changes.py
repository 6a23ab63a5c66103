"""Every change of a SQL file: comparisons, integers, conditions, elements of lists, order, locks, statements."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from tests.mutants.change import Change, change
from tests.mutants.sql_tokens import Token, tokens

_SWAPS = {
    "<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<"), "=": ("<>",), "<>": ("=",),
    "+": ("-",), "-": ("+",), "*": ("/",), "/": ("*",),
    "true": ("false",), "false": ("true",), "min": ("max",), "max": ("min",), "greatest": ("least",),
    "least": ("greatest",), "bool_or": ("bool_and",), "bool_and": ("bool_or",), "desc": ("asc",),
}  # fmt: skip
# What ends a condition, or comes before one, at its own depth.
_BOUNDS = {
    "where", "if", "elsif", "when", "then", "having", "on", "and", "or", "group", "order", "limit", "returning", "for",
    "union", "loop", "else", "end", "offset", "select", "from", "using", "set", "into", "return", "exit", "continue",
    "as", "join", "left", "full", "lateral", ";", ",", ":=",
}  # fmt: skip
_CONDITIONS = {"where", "if", "elsif", "when", "having"}
_STATEMENTS = {"perform", "insert", "update", "delete", "grant", "revoke", "raise"}
_CLAUSE_ENDS = {"limit", "for", "returning", "offset", "loop", "union", "on", ";", ")", "]", "into", "as"}

Span = tuple[int, int, str]


def sql_changes(file: str, source: bytes) -> list[Change]:
    """All changes of that file, in the order of their places; some are refused by Postgres."""
    words = tokens(source)
    found = set[Span]()
    for part in (_swaps, _not, _conditions, _lists, _clauses, _statements):
        found.update(part(words))
    changes = (change(file, source, start, end, new) for start, end, new in sorted(found))
    return [each for each in changes if each.old.strip().lower() != each.new.decode()]


def _swaps(words: Sequence[Token]) -> Iterator[Span]:
    for before, word in pairwise(words):
        if word.text == "*" and (before.text.endswith((".", "(")) or before.text in ("select", ",")):
            continue
        for new in _SWAPS.get(word.text, ()):
            yield word.start, word.end, new
        if word.kind == "number" and word.text.isdigit():
            yield word.start, word.end, str(int(word.text) + 1)
            yield word.start, word.end, str(max(0, int(word.text) - 1))


def _not(words: Sequence[Token]) -> Iterator[Span]:
    for word, after in pairwise(words):
        if word.text == "not" and after.text != "found":
            yield word.start, after.start, ""
        elif word.text == "is" and after.text in ("null", "distinct"):
            yield word.end, after.start, " not "


def _conditions(words: Sequence[Token]) -> Iterator[Span]:
    """Each side of `and` becomes true, each side of `or` false, and a condition alone true."""
    for place, word in enumerate(words[1:-1], 1):
        before, after = words[place - 1].text, words[place + 1].text
        if word.text in ("and", "or") and word.kind == "word" and after != "replace":
            new = "true" if word.text == "and" else "false"
            yield *_operand(words, place, -1), new
            yield *_operand(words, place, 1), new
            yield word.start, word.end, "or" if word.text == "and" else "and"
        elif word.text in _CONDITIONS and before not in ("end", "exception"):
            yield *_operand(words, place, 1), "true"


def _operand(words: Sequence[Token], place: int, step: int) -> tuple[int, int]:
    """From the word beside `place` to the last one that belongs to the same operand."""
    at = place + step
    while 0 <= at < len(words) and not _bounds(words, at, words[place].depth):
        at += step
    first, last = sorted((place + step, at - step))
    return words[first].start, words[last].end


def _bounds(words: Sequence[Token], at: int, depth: int) -> bool:
    """Whether a condition at that depth ends before this word."""
    word = words[at]
    if word.depth == depth:
        part = word.kind == "range" or words[at - 1].text == "distinct"
        return word.kind == "dollar" or (word.text in _BOUNDS and not part)
    return word.depth < depth


def _lists(words: Sequence[Token]) -> Iterator[Span]:
    """`in ('A', 'B')` without one of them."""
    for place, word in enumerate(words):
        if word.text != "(" or words[place - 1].text != "in":
            continue
        inside = []
        for each in words[place + 1 :]:
            if each.depth <= word.depth:
                break
            inside.append(each)
        codes = [each for each in inside if each.kind == "string"]
        if len(codes) > 1 and len(inside) == 2 * len(codes) - 1:
            for left_out in codes:
                kept = ", ".join(each.text for each in codes if each is not left_out)
                yield inside[0].start, inside[-1].end, kept


def _clauses(words: Sequence[Token]) -> Iterator[Span]:
    """Without `order by …`, `limit …`, `for update …` or `skip locked`."""
    for place, word in enumerate(words):
        following = words[place + 1].text if place + 1 < len(words) else ""
        if (word.text, following) == ("skip", "locked"):
            yield word.start, words[place + 1].end, ""
        elif (word.text, following) in (("order", "by"), ("for", "update")) or word.text == "limit":
            end = next(
                (
                    e
                    for e in words[place + 1 :]
                    if e.depth < word.depth or (e.depth == word.depth and e.text in _CLAUSE_ENDS)
                ),
                words[-1],
            )
            yield word.start, end.start, ""


def _statements(words: Sequence[Token]) -> Iterator[Span]:
    """A statement of a function that is left out, a guard that does not raise, a grant that is not given."""
    for place, word in enumerate(words):
        before = words[place - 1].text if place else ";"
        if word.text in _STATEMENTS and before in (";", "begin", "then", "else", "loop"):
            end = next((e for e in words[place:] if e.text == ";" and e.depth == word.depth), words[-1])
            inside = before != ";" or any(each.kind == "dollar" for each in words[:place])
            yield word.start, end.end, "null;" if inside and word.text not in ("grant", "revoke") else ""
        elif word.text == "return" and before in (";", "begin", "then", "else", "loop"):
            end = next((e for e in words[place:] if e.text == ";"), words[-1])
            if words[place + 1].text not in ("query", "next", "null", ";"):
                yield words[place + 1].start, end.start, "null"
