"""What people type wrong: each is answered by a sentence and an exit code, none by a traceback."""

from pathlib import Path
from uuid import uuid4

from tests.integration.cli.conftest import Command

NOBODY = str(uuid4())
DEEP = "[" * 100_000
WHY = ("-m", "because")

WORDS = {
    ("list", "--status", "lost"): "--status: 'lost' is not one of PENDING, ",
    ("list", "--status", "info"): "--status: 'info' is not one of PENDING, ",
    ("list", "--since", "2y"): "--since: a duration is written like",
    ("list", "--since", "99999999999d"): "--since: 99999999999d is too long ago",
    ("list", "--until", "yesterday"): "--until: 'yesterday' is neither a time like",
    ("list", "--name", "\udcff"): "an argument of the command line is not valid UTF-8",
    ("list", "--name", "\0"): "cannot contain NUL",
    ("events", "17"): "'17' is not an action id: it looks like 0197a0f3",
    ("events", NOBODY): f"there is no action {NOBODY}",
    ("show", NOBODY): f"there is no action {NOBODY}; retention may have dropped it",
    ("watch", NOBODY): f"there is no action {NOBODY}",
    ("cancel", NOBODY, *WHY): f"there is no action {NOBODY}",
    ("cancel", NOBODY, "--name", "noop", *WHY): "give ids or filters, not both",
    ("pause", "noop", "-m", " "): "reason: must say something",
    ("partitions", "--drop-older-than", "soon", "--yes"): "--drop-older-than: a duration is written like",
    ("partitions", "--ensure", "99999"): "days_ahead must be between 0 and 3660",
    ("submit", "noop", "-p", "{"): "--parameters: is not valid JSON",
    ("submit", "noop", "-p", DEEP): "--parameters: is not valid JSON (it is nested too deeply)",
    ("submit", "noop", "-p", "[1]"): "parameters: must be a JSON object",
    ("submit", "noop", "-p", "null"): "parameters: must be a JSON object",
    ("submit", "noop", "-p", "@/nowhere"): "cannot read /nowhere: No such file or directory",
    ("submit", "noop", "--callbacks", "{}"): "callbacks: must be a list of objects",
    ("submit", "noop", "--callbacks", "[5]"): "callbacks: must be a list of objects",
    ("submit", "noop", "--after", "99999999w"): "--after: 99999999w is too far away",
    ("submit", "noop", "--after", "soon"): "--after: 'soon' is neither a time like",
    ("submit", "noop", "--lane", "x" * 201): "lane: must have 1 to 200 characters, not 201",
    ("submit", "noop", "--tag", ""): "tags[0]: must have 1 to 200 characters, not 0",
    ("submit", "--bulk", "/nowhere"): "cannot read /nowhere: No such file or directory",
}  # fmt: skip
LINES = {
    "{": "line 2: is not valid JSON",
    "5": "line 2: must be an object of action_name, after,",
    '{"name": "noop"}': "line 2: must be an object of action_name, after,",
    '{"action_name": 5}': "line 2: action_name: must be a string",
    '{"action_name": "noop", "correlation_id": ["a"]}': "line 2: correlation_id: must be a string",
    '{"action_name": "noop", "lane": "a\\u0000b"}': "line 2: lane: has a NUL character",
    '{"action_name": "noop", "priority": null}': "line 2: priority: must be a whole number",
    '{"action_name": "noop", "priority": 1.5}': "line 2: priority: must be a whole number",
    '{"action_name": "noop", "start_after": 5}': "line 2: start_after: '5' is neither a time like",
    '{"action_name": "noop", "parent_uuid": 5}': "line 2: '5' is not a valid UUID",
}


def test_a_word_that_is_wrong_is_named(switchyard: Command) -> None:
    for words, reason in WORDS.items():
        said = switchyard(*words, code=65)
        assert said.err.startswith(f"switchyard: {reason}") or reason in said.err, (words[:3], said.err[:200])
    assert switchyard.json("list") == []


def test_a_line_that_is_wrong_is_named_and_nothing_is_submitted(switchyard: Command) -> None:
    for line, reason in LINES.items():
        said = switchyard("submit", "--bulk", "-", stdin=f'{{"action_name": "noop"}}\n{line}\n', code=65)
        assert said.err.startswith(f"switchyard: {reason}"), (line, said.err)
    assert switchyard.json("list") == []


def test_a_file_that_is_not_text_is_named(switchyard: Command, tmp_path: Path) -> None:
    (tmp_path / "picture").write_bytes(b"\xff\xd8\xff")
    for words in (("noop", "-p", f"@{tmp_path}/picture"), ("--bulk", f"{tmp_path}/picture")):
        assert f"cannot read {tmp_path}/picture: it is not UTF-8" in switchyard("submit", *words, code=65).err


def test_a_number_that_no_inbox_shows(switchyard: Command) -> None:
    for entry in (0, 2**63 - 1):
        assert f"{entry} was not in the inbox." in switchyard("dismiss", str(entry), *WHY).out
    for part in (str(2**63), "12345678"):
        assert (
            "there is no action whose id begins or ends with"
            in switchyard("dismiss", part, *WHY, code=65).err
        )
    for words in (("17", "--name", "noop"), ("17", "…3c5b8329")):
        assert (
            "give numbers of entries, or actions, not both"
            in switchyard("dismiss", *words, *WHY, code=65).err
        )
    assert "name actions, or choose" in switchyard("dismiss", *WHY, code=65).err


def test_what_would_be_lost_is_confirmed_first(switchyard: Command) -> None:
    """No answer is no."""
    for words in (("migrate", "--down", "base"), ("partitions", "--drop-older-than", "90d")):
        assert "Aborted" in switchyard(*words, code=1).err
    assert switchyard.json("verify") == []


def test_a_revision_that_this_version_does_not_have(switchyard: Command) -> None:
    assert "'nine'; this version goes up to" in switchyard("migrate", "--down", "nine", "--yes", code=78).err
    switchyard.database.execute("update public.migration set version_num = '9999'")
    for words in (("migrate",), ("migrate", "--check")):
        assert "'9999'; this version goes up to" in switchyard(*words, code=78).err
