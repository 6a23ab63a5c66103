"""No dead code in the product: every name that is defined is used, as far as vulture can tell."""

from fnmatch import fnmatch

from vulture import Vulture  # type: ignore[import-untyped]

from tests.guards.sources import PACKAGES, ROOT

DECORATORS = [
    "@model_validator",
    "@field_validator",
    "@model_serializer",
    "@*.command",
    "@*.get",
    "@*.route",
    "@get",
    "@post",
    "@delete",
]
NAMES = [
    # called or read by a library, by name
    *("visit_*", "model_config", "row_factory", "autocommit", "text_factory"),
    *("yaml_implicit_resolvers", "field_title_should_be_set", "intercepted_binops", "extra_groups"),
    *("dont_write_bytecode", "capture_signals", "should_exit", "send_400_response"),
    # imported for annotations that are text
    *("*TypeDef", "Trace", "ResponseHandler", "RawResponseMessage"),
    # values that only users write
    "USAGE",
]
EXCEPTIONS = {
    "switchyard/backends/*/backend.py": "*",  # found by entry point
    "signalbox/cli/*.py": "*",
    "switchyard/client/*.py": "*",  # the Python API
    "switchyard/testing/*.py": "*",  # a pytest plugin
    "switchyard/__init__.py": ["__getattr__"],
    "switchyard/config/__init__.py": ["__getattr__"],
    "switchyard/cli/*.py": "*",  # commands, imported by name when they are called
    "switchyard/config/database.py": ["schema_name"],
    "switchyard/campaigns/catalogue.py": ["max_redirects"],  # of a session of requests
    "switchyard/process/redact.py": ["forget_secrets"],  # for tests, which share a process
    "signalbox/records/*.py": "*",  # fields of the API's answers
    "signalbox/pages/*.py": ["ran", "opened_by", "numeric"],  # read by templates
    "assessment/__init__.py": ["__getattr__"],
    "assessment/report/groups.py": "*",  # called by the template
    "assessment/intake/child.py": ["warm"],  # called by name, in another process
    "assessment/intake/reader.py": ["cpu"],  # for benchmarks
    "switchyard/submit/check.py": ["problems_of"],  # for users: docs/configuration.md
    "switchyard/submit/options.py": ["__signature__"],  # read by inspect and help()
}


def test_every_name_is_used() -> None:
    looking = Vulture(ignore_names=NAMES, ignore_decorators=DECORATORS)
    looking.scavenge([str(ROOT / package) for package in (*PACKAGES, "migrations")])
    unused = [(str(each.filename.relative_to(ROOT)), each.name) for each in looking.get_unused_code()]
    found = [each for each in unused if not _expected(*each)]
    assert found == [], "delete what is not used, or add it to EXCEPTIONS with the reason"


def _expected(path: str, name: str) -> bool:
    return any(fnmatch(path, file) and (names == "*" or name in names) for file, names in EXCEPTIONS.items())
