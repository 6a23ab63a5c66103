"""The Jinja environment of the pages: everything is escaped, and an unknown name is an error."""

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from signalbox.pages import words
from signalbox.pages.attention import needs_attention, queue_rows
from signalbox.pages.family import counted, group_callbacks, unfinished
from signalbox.pages.gantt import draw_gantt
from signalbox.pages.graph import about, draw_graph
from signalbox.pages.path import draw_path
from signalbox.pages.shapes import draw_features, draw_footprints
from signalbox.pages.story import read_runs
from signalbox.pages.table import result_table, tinted_by
from signalbox.pages.timeline import draw_timeline

FILTERS = {
    "took": words.took,
    "when": words.when,
    "number": words.number,
    "size": words.size,
    "ending": words.ending,
    "pretty": words.pretty,
    "shape": words.shape,
    "word": words.word,
}
GLOBALS = {
    "state": words.state,
    "lane_state": words.lane_state,
    "many": words.many,
    "steady": words.steady,
    "deed": words.deed,
    "time_in": words.time_in,
    "query_of": words.query_of,
    "read_runs": read_runs,
    "draw_path": draw_path,
    "draw_graph": draw_graph,
    "draw_gantt": draw_gantt,
    "about_step": about,
    "draw_timeline": draw_timeline,
    "draw_features": draw_features,
    "draw_footprints": draw_footprints,
    "result_table": result_table,
    "tinted_by": tinted_by,
    "group_callbacks": group_callbacks,
    "counted": counted,
    "unfinished": unfinished,
    "needs_attention": needs_attention,
    "queue_rows": queue_rows,
}


@cache
def environment() -> Environment:
    """The environment, created once per process."""
    made = Environment(
        loader=PackageLoader("signalbox.pages", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= FILTERS
    made.globals |= GLOBALS
    return made
