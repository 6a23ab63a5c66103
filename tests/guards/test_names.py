"""A module's name occurs once within a top-level package, so that a traceback and a search lead to one file."""

from collections import defaultdict
from pathlib import Path

from tests.guards.sources import modules

# Names that two folders share because they hold the same thing for each.
BY_CONVENTION = (
    "switchyard/backends",  # each backend has its handler.py, source.py, model.py …
    "switchyard/cli",  # a command's module is named like the command
    "assessment/cli",
    "signalbox/cli",
    "signalbox/records",  # the records of the routes of the same name
    "assessment/formats",  # a format that is read, and in output/ the same format written
)
EXCEPTIONS = {
    "switchyard": {"errors.py", "explain.py", "folder.py", "model.py", "queue.py"},
    "assessment": {"job.py"},
}


def test_no_module_name_occurs_twice_within_a_package() -> None:
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for path in modules():
        if path.name not in ("__init__.py", "__main__.py") and not _by_convention(path):
            found[path.parts[0], path.name].append(str(path))
    twice = {key: paths for key, paths in found.items() if len(paths) > 1}
    found = {key: paths for key, paths in twice.items() if key[1] not in EXCEPTIONS.get(key[0], ())}
    assert found == {}, "rename one, or add the name to EXCEPTIONS"


def _by_convention(path: Path) -> bool:
    return any(path.is_relative_to(folder) for folder in BY_CONVENTION)
