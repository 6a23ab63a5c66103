"""Every requirement of OGC API Processes 1.0 in the classes that are claimed has a test that is named after it."""

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[2] / "integration" / "signalbox"
REQUIREMENTS = {
    "core": """http landingpage-op landingpage-success api-definition-op api-definition-success conformance-op
        conformance-success process-list pl-limit-definition pl-limit-response process-list-success pl-links process
        process-success process-exception/no-such-process process-execute-op process-execute-request
        process-execute-input-array process-execute-input-inline-object process-execute-input-mixed-type
        process-execute-input-inline-binary process-execute-input-inline-bbox process-execute-input-validation
        process-execute-inputs process-execute-default-outputs process-execute-default-execution-mode
        process-execute-auto-execution-mode process-execute-sync-raw-value-one process-execute-sync-raw-value-multi
        process-execute-sync-raw-ref process-execute-sync-raw-mixed-multi process-execute-sync-document
        process-execute-success-async job job-success job-exception/no-such-job job-results
        job-results-async-raw-value-one job-results-async-raw-value-multi job-results-async-raw-ref
        job-results-async-raw-mixed-multi job-results-async-document job-results-exception/no-such-job
        job-results-exception/results-not-ready job-results-failed""",
    "json": "definition",
    "html": "definition content",
    "oas30": "oas-definition-1 oas-definition-2 oas-impl completeness exceptions-codes security",
    "ogc-process-description": "json-encoding inputs-def input-def input-mixed-type outputs-def output-def output-mixed-type",
    "job-list": """job-list-op type-definition type-response processID-definition processid-response status-definition
        status-response datetime-definition datetime-response duration-definition duration-response limit-definition
        limit-response job-list-success links""",
    "callback": "job-callback",
    "dismiss": "job-dismiss-op job-dismiss-success",
}


def plain(identifier: str) -> str:
    return re.sub(r"\W", "_", identifier).lower().strip("_")


def identifiers() -> set[str]:
    """What the names of tests begin with, and the identifiers that they mention."""
    text = "".join(path.read_text() for path in TESTS.glob("test_*.py"))
    return {plain(each) for each in re.findall(r"(?<=def test_)req_\w+|/req/[\w/-]+", text)}


@pytest.mark.parametrize("requirements", REQUIREMENTS)
def test_each_has_a_test(requirements: str) -> None:
    known = identifiers()
    assert not {
        name
        for name in REQUIREMENTS[requirements].split()
        if not any(each.startswith(plain(f"req/{requirements}/{name}")) for each in known)
    }
