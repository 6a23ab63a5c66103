import asyncio
import json as jsonlib
import logging
import subprocess
import sys
import warnings
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from switchyard.config.daemons import Logging
from switchyard.errors import ConfigError
from switchyard.process import redact
from switchyard.process.log import bound, configure, get_logger
from switchyard.process.redact import MASK, redact_value, register_secret

pytestmark = pytest.mark.usefixtures("logging_as_before")


class Err:
    """All that was written to stderr so far."""

    def __init__(self, capture: pytest.CaptureFixture[str]) -> None:
        self._capture, self._text = capture, ""

    def getvalue(self) -> str:
        self._text += self._capture.readouterr().err
        return self._text


@pytest.fixture
def err(capsys: pytest.CaptureFixture[str]) -> Err:
    return Err(capsys)


def fail(error: Exception) -> None:
    raise error


def lines(err: Err) -> list[dict[str, Any]]:
    return [jsonlib.loads(line) for line in err.getvalue().splitlines()]


def test_each_line_is_json_with_ids_or_null(err: Err) -> None:
    configure()
    uuid = UUID(int=7)
    get_logger("conductor.worker").info("claimed", count=3)
    with bound(correlation_id="c-1", action_uuid=uuid):
        get_logger("conductor.worker").warning("slow")
    first, second = lines(err)
    assert first == {
        "event": "claimed",
        "count": 3,
        "level": "info",
        "logger": "conductor.worker",
        "time": first["time"],
        "correlation_id": None,
        "action_uuid": None,
    }
    assert first["time"].endswith("Z")
    assert (second["correlation_id"], second["action_uuid"]) == ("c-1", str(uuid))


def test_ids_end_with_their_block_and_follow_tasks(err: Err) -> None:
    configure(json=True)
    log = get_logger("x")

    async def inner() -> None:
        log.info("in a task")

    async def outer() -> None:
        with bound(correlation_id="outer", action_uuid="u"):
            with bound(correlation_id="inner"):
                await asyncio.create_task(inner())
            log.info("outer")
        log.info("after")

    asyncio.run(outer())
    assert [(line["correlation_id"], line["action_uuid"]) for line in lines(err)] == [
        ("inner", None),
        ("outer", "u"),
        (None, None),
    ]


def test_libraries_and_warnings_take_the_same_way(err: Err) -> None:
    configure(json=True)
    with bound(correlation_id="c"):
        logging.getLogger("library").warning("from %s", "outside", extra={"more": 1})
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.warn("old", UserWarning, stacklevel=1)
    try:
        fail(KeyError("inside"))
    except KeyError:
        logging.getLogger("library").exception("it broke")
    library, warning, broken = lines(err)
    assert "KeyError: 'inside'" in broken["exception"]
    assert library["event"] == "from outside"
    assert (library["correlation_id"], library["more"], library["logger"]) == ("c", 1, "library")
    assert "UserWarning: old" in warning["event"]


def test_exceptions_are_rendered_without_locals(err: Err) -> None:
    configure(json=True)
    hidden = "value-of-a-local"
    try:
        try:
            fail(KeyError("cause"))
        except KeyError:
            fail(ValueError("broken"))
    except ValueError:
        get_logger("x").exception("failed")
    (line,) = lines(err)
    assert "ValueError: broken" in line["exception"]
    assert "KeyError: 'cause'" in line["exception"]
    assert hidden not in err.getvalue()


def test_levels(err: Err) -> None:
    configure(json=True, level="warning")
    get_logger("x").info("no")
    logging.getLogger("y").info("no")
    get_logger("x").error("yes")
    assert [line["event"] for line in lines(err)] == ["yes"]
    with pytest.raises(ConfigError, match="loud"):
        configure(level="loud")


def test_readable_lines_cannot_be_forged(err: Err) -> None:
    configure(json=False)
    get_logger("x").info("hello\nERROR forged", body="\x1b[2Jgone\u2028line")
    (line,) = err.getvalue().splitlines()
    assert "\x1b" not in line
    assert r"hello\nERROR forged" in line
    assert "correlation_id" in line


def test_readable_keeps_the_lines_of_an_exception(err: Err) -> None:
    configure(json=False)
    try:
        fail(ValueError("broken\x1b[0m"))
    except ValueError:
        get_logger("x").exception("failed")
    assert "ValueError: broken\\x1b" in err.getvalue()
    assert len(err.getvalue().splitlines()) > 3


SECRETS = ['pa"ss\\word', "line one of it\nline two of it", "ünïcode-secret", "a/b+c=d&e f"]


@pytest.mark.parametrize("as_json", [True, False])
@pytest.mark.parametrize("secret", SECRETS)
def test_a_registered_secret_is_in_no_line(err: Err, as_json: bool, secret: str) -> None:
    register_secret(secret)
    configure(json=as_json)
    log = get_logger("x")
    log.info(f"token={secret}", header={"Authorization": [f"Bearer {secret}"]}, error=ValueError(secret))
    log.info("escaped", text=jsonlib.dumps(secret), shown=repr(secret))
    logging.getLogger("library").error("%s", secret)
    try:
        fail(RuntimeError(secret))
    except RuntimeError:
        log.exception("failed")
    for part in (secret, *secret.splitlines(), repr(secret)[1:-1], jsonlib.dumps(secret)[1:-1]):
        assert part not in err.getvalue()
    assert MASK in err.getvalue()


def test_secrets_as_numbers_keys_bytes_and_in_urls() -> None:
    register_secret("987654")
    register_secret(b"by/tes")
    assert redact_value(987654) == MASK
    assert redact_value({"987654": 1}) == {MASK: 1}
    assert redact_value("https://x/?t=by%2Ftes") == f"https://x/?t={MASK}"


def test_a_secret_in_json_that_is_not_ascii() -> None:
    secret = 'tök"en-91'
    register_secret(secret)
    assert redact_value(jsonlib.dumps({"t": secret}, ensure_ascii=False)) == f'{{"t": "{MASK}"}}'


def test_a_secret_within_another_leaves_no_rest() -> None:
    register_secret("inner-part")
    register_secret("outer-inner-part-outer")
    assert redact_value("x outer-inner-part-outer y") == f"x {MASK} y"


def test_the_password_of_a_url_alone_is_a_secret() -> None:
    register_secret("postgresql://me:hunter%402hunter@db.example/x")
    assert redact_value("password hunter%402hunter or hunter@2hunter") == f"password {MASK} or {MASK}"


def test_renewed_tokens_do_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redact, "MOST", 3)
    for number in range(5):
        register_secret(f"token-{number}")
    assert [redact_value(f"token-{number}") for number in range(5)] == ["token-0", "token-1", *[MASK] * 3]


def test_too_short_to_be_a_secret() -> None:
    register_secret("abc")
    register_secret("")
    assert redact_value("abc") == "abc"


class Unshowable:
    def __str__(self) -> str:
        raise RuntimeError("no")


def test_anything_can_be_logged(err: Err) -> None:
    configure(json=True)
    circle: list[Any] = []
    circle.append(circle)
    get_logger("x").info("odd", a=Unshowable(), b=float("nan"), c={1: {2}}, d="\ud800", e=circle, f=b"\xff")
    (line,) = lines(err)
    assert "cannot be shown" in line["a"]
    assert line["b"] == "nan"


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(values)
def test_whatever_is_redacted_is_json(value: Any) -> None:
    jsonlib.dumps(redact_value(value), allow_nan=False)


def test_without_configuration_only_warnings_are_reported_and_never_on_stdout() -> None:
    text = """
from switchyard.process.log import get_logger
from switchyard.process.redact import register_secret
register_secret("hunter2hunter2")
get_logger("x").info("quiet")
get_logger("x").warning("loud", token="hunter2hunter2")
"""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout == ""
    assert "loud" in done.stderr
    assert "quiet" not in done.stderr
    assert "hunter2" not in done.stderr


UNCAUGHT = """
import threading
from switchyard.process.redact import redact_tracebacks, register_secret
register_secret("hidden-word")
redact_tracebacks()
def fail():
    raise ValueError("it is the hidden-word")
thread = threading.Thread(target=fail)
thread.start()
thread.join()
fail()
"""


def test_security_m5_uncaught_errors_are_shown_without_secrets() -> None:
    done = subprocess.run([sys.executable, "-c", UNCAUGHT], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.count(f"ValueError: it is the {MASK}") == 2
    assert "hidden" not in done.stderr.replace('register_secret("hidden-word")', "").replace(
        'raise ValueError("it is the hidden-word")', ""
    )


@pytest.mark.parametrize(("form", "json_lines"), [("auto", None), ("json", True), ("text", False)])
def test_the_format_of_the_configuration_decides_unless_it_is_auto(
    form: str, json_lines: bool | None
) -> None:
    assert Logging.model_validate({"format": form}).json_lines is json_lines


def test_the_first_and_last_line_of_a_key_stay_readable() -> None:
    first, inside, last = "-----BEGIN PRIVATE KEY-----", "MIIEvQIBADANBgkq", "-----END PRIVATE KEY-----"
    register_secret(f"{first}\n{inside}\n{last}\n")
    assert redact_value(f"{first} {inside} {last}") == f"{first} {MASK} {last}"
