"""Security M3: a step names the place of its log, and gets only a place of its own Workflow's logs."""

import pytest

from switchyard.backends.argo.logs import is_own_log

NAME = "0190163d-8694-739b-aea5-966c26f8ad91-r2"
STORE = "s3://ours/switchyard"


@pytest.mark.parametrize(
    "key", [f"{NAME}/pod-1/main.log", f"argo/{NAME}/main.log", f"2026/01/{NAME}/{NAME}-main-7/main.log"]
)
def test_a_log_of_the_workflow_itself_is_read(key: str) -> None:
    assert is_own_log(f"s3://ours/{key}", NAME, STORE)
    assert is_own_log(f"s3://ours/{key}", NAME, "s3://ours")


@pytest.mark.parametrize(
    "address",
    [
        f"s3://other/{NAME}/main.log",
        f"s3://ours.other/{NAME}/main.log",
        "s3://ours/payroll/salaries.csv",
        f"s3://ours/payroll/{NAME}",
        f"s3://ours/argo/{NAME[:-3]}/main.log",
        f"s3://ours/argo/{NAME}-more/main.log",
        f"s3://ours/switchyard/executions/{NAME}/r2/output.json",
    ],
)
def test_security_m3_nothing_else_of_the_bucket_is_read(address: str) -> None:
    assert not is_own_log(address, NAME, STORE)


def test_security_m3_a_store_that_is_a_whole_bucket_is_not_read_either() -> None:
    assert not is_own_log(f"s3://ours/executions/{NAME}/r2/output.json", NAME, "s3://ours")
    assert not is_own_log(f"s3://ours/{NAME}/main.log", NAME, "file:///srv/store")
