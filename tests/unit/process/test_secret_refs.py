from switchyard.config.secrets import parse_secret
from switchyard.process.redact import MASK, redact


def test_a_secret_that_was_resolved_is_masked_from_then_on() -> None:
    assert parse_secret("env:TOKEN").resolve({"TOKEN": "hunter2hunter2"}) == "hunter2hunter2"
    assert redact("Bearer hunter2hunter2") == f"Bearer {MASK}"
