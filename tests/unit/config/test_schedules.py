"""Schedules in the configuration."""

import pytest

from tests.unit.config.reading import problems, read

BASE = """
actions: {noop: {type: noop}, argo: {type: argo, namespace: n}}
workflows: {w: {action: argo, template: t}}
"""


def wrong(schedule: str) -> list[str]:
    return [
        f"{problem.dotted}: {problem.message}" for problem in problems(f"{BASE}schedules: {{s: {schedule}}}")
    ]


def test_a_schedule_with_everything() -> None:
    config = read(
        BASE
        + "schedules: {s: {workflow: w, cron: '@daily', timezone: Europe/London, overlap: queue, catch_up: all,"
        " window: 7d, jitter: 5m, start: '2026-01-01T00:00:00Z', end: '2027-01-01T00:00:00+01:00',"
        " parameters: {a: 1}, time_parameter: at, priority: 5}}"
    )
    schedule = config.schedules["s"]
    assert (schedule.cron, schedule.window, schedule.jitter) == ("0 0 * * *", 604800.0, 300.0)


@pytest.mark.parametrize(
    ("schedule", "message"),
    [
        ("{action: noop, cron: '* * * * * *'}", "schedules.s.cron: fires too often"),
        ("{action: noop, cron: '0 0 30 2 *'}", "schedules.s.cron: never fires"),
        ("{action: noop, every: 100ms}", "schedules.s.every"),
        ("{action: noop, cron: '@daily', timezone: Europe/Lodnon}", "schedules.s.timezone: there is no time zone"),
        ("{action: noop}", "give either cron or every"),
        ("{action: noop, cron: '@daily', every: 1h}", "give either cron or every"),
        ("{cron: '@daily'}", "give either workflow or action"),
        ("{action: noop, every: 1h, timezone: Europe/London}", "timezone is for cron"),
        ("{action: noop, every: 1h, start: '2026-01-02T00:00Z', end: '2026-01-01T00:00Z'}", "start must be before end"),
        ("{action: noop, every: 1h, start: '2026-01-02T00:00'}", "schedules.s.start"),
        ("{action: noop, every: 1h, window: 1s}", "schedules.s.window"),
        ("{action: nop, every: 1h}", "schedules.s.action: there is no action 'nop'"),
        ("{action: argo, every: 1h}", "give workflow instead"),
        ("{workflow: v, every: 1h}", "schedules.s.workflow: there is no workflow 'v'"),
    ],
)  # fmt: skip
def test_what_cannot_work_is_refused_with_the_reason(schedule: str, message: str) -> None:
    found = wrong(schedule)
    assert any(message in problem for problem in found), found
