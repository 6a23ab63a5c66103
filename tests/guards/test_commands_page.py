"""docs/cli.md is what the commands say of themselves."""

from tests.guards.sources import ROOT
from tools.commands import PROGRAMS, reference


def test_the_command_reference_is_current() -> None:
    assert (ROOT / "docs" / "cli.md").read_text() == reference(), "run make schema"


def test_it_has_every_program_and_every_command() -> None:
    page = reference()
    assert all(f"\n## {program}\n" in page for program in [*PROGRAMS, "assessment"])
    assert all(
        f"\n### {name}\n" in page for name in ("switchyard schedules apply", "assessment bundle check")
    )
