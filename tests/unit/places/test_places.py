"""The places are a contract with whatever runs: spelled out, so that a change is seen."""

from uuid import UUID

from switchyard.places import Places, environment, variables

UUID7 = UUID("0190163d-8694-739b-aea5-966c26f8ad91")


def test_the_keys_of_a_run() -> None:
    places = Places(UUID7, 2)
    folder = f"executions/{UUID7}/r2"
    assert places.input == f"{folder}/input.json"
    assert places.output == f"{folder}/output.json"
    assert places.workflow == f"{folder}/workflow.json"
    assert places.log == f"{folder}/log.txt"
    assert places.cancel == f"{folder}/cancel"
    assert Places(UUID7, 1, "callbacks").folder == f"callbacks/{UUID7}/r1"


def test_what_the_work_is_given() -> None:
    assert environment(Places(UUID7, 1), None, lambda key: f"s3://bucket/{key}") == {
        "SWITCHYARD_ACTION_UUID": str(UUID7),
        "SWITCHYARD_RUN": "1",
        "SWITCHYARD_INPUT": f"s3://bucket/executions/{UUID7}/r1/input.json",
        "SWITCHYARD_OUTPUT": f"s3://bucket/executions/{UUID7}/r1",
        "SWITCHYARD_CORRELATION_ID": "",
    }
    assert variables(Places(UUID7, 1), "abc", str)["correlation-id"] == "abc"
