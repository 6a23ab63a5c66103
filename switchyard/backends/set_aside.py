"""Items of a source that cannot be processed: each is reported once, set aside, and the rest continues.

A source observes many items (a state machine, a workflow, a folder), and an error with one of them concerns
only that item. The source catches `Exception` around each item, gets the Notice from `report`, and
continues. The item is tried again whenever the source meets it; `recovered` lets a later fault be reported
again.
"""

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from switchyard.process.log import get_logger
from switchyard.sources import Notice

REMEMBERED = 10_000

log = get_logger(__name__)


class SetAside:
    """The items of one source that are set aside now."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._faults: OrderedDict[str, str] = OrderedDict()

    def report(self, item: str, error: Exception, detail: Mapping[str, Any] | None = None) -> Notice | None:
        """A Notice for the inbox; None where this fault of the item was reported already."""
        fault = f"{type(error).__name__}: {error}"[:1000]
        if self._faults.get(item) == fault:
            return None
        self._faults[item] = fault
        self._faults.move_to_end(item)
        if len(self._faults) > REMEMBERED:
            self._faults.popitem(last=False)
        log.warning("set aside", source=self._source, item=item, error=fault)
        return Notice(
            subject=self._source,
            reason=f"{item} cannot be processed and is set aside: {fault}",
            key=item,
            detail=detail or {},
            acknowledge=_nothing,
        )

    def recovered(self, item: str) -> None:
        """It was processed."""
        self._faults.pop(item, None)


async def _nothing() -> None:
    """There is no message to acknowledge."""
