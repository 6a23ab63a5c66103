"""Every page, in light, dark and narrow: no error, no request elsewhere, nothing that shuts people out."""

import pytest

from tests.acceptance.pages.conftest import PICTURES, Site
from tests.acceptance.pages.scene import HOSTILE, Scene
from tests.parts.browser import Chromium, Scheme, Sight

PAGES = {
    "overview": "/",
    "jobs": "/jobs",
    "jobs-in-a-box": "/jobs?bbox=-4,50,-1,53",
    "job": "/jobs/{AGAIN}",
    "job-failed": "/jobs/{FAILED}",
    "job-again": "/jobs/{AGAIN}/again",
    "job-again-hostile": "/jobs/{HOSTILE_RESULT}/again",
    "job-graph": "/jobs/{GRAPH}",
    "job-result": "/jobs/{RESULT}",
    "job-hostile": "/jobs/{HOSTILE}",
    "job-hostile-result": "/jobs/{HOSTILE_RESULT}",
    "retrigger": "/jobs/{FAILED}/retrigger",
    "cancel": "/jobs/{RUNNING}/cancel",
    "call-back": "/jobs/{RESULT}/call-back",
    "dismiss": "/actions/{FAILED}/dismiss",
    "retrigger-many": "/jobs:retrigger?id={FAILED}&id={TIMED_OUT}",
    "cancel-many": "/jobs:cancel?id={RUNNING}",
    "login": "/login",
    "process": "/processes/nutrient",
    "conformance": "/conformance",
    "api": "/api",
    "queues": "/queues",
    "workers": "/workers",
    "inbox": "/inbox",
    "journal": "/journal",
    "schedules": "/schedules",
    "campaigns": "/campaigns",
    "campaign": "/campaigns/spring",
    "campaign-hostile": "/campaigns/{CAMPAIGN}",
    "campaign-retrigger": "/campaigns/spring/retrigger",
    "campaign-retrigger-cause": "/campaigns/spring/retrigger?cause=exit code 4: no overlap with the area",
    "processes": "/processes",
    "forget": "/results:forget?workflow=tiles",
    "campaign-pause": "/campaigns/spring/pause",
    "campaign-resume": "/campaigns/{CAMPAIGN}/resume",
    "campaign-cancel": "/campaigns/spring/cancel",
    "retrigger-action": "/actions/{FAILED}/retrigger",
    "dismiss-entry": "/inbox/{ENTRY}/dismiss",
    "schedule-trigger": "/schedules/nightly/trigger",
    "schedule-pause": "/schedules/nightly/pause",
    "pause": "/queues/shell/pause",
    "resume": "/queues/stac/resume",
}
MISSING = {"missing-page": "/nowhere", "missing-job": "/jobs/01a1ec94-8b08-769c-9bbd-0af522ad58ff"}
LOOKS: list[tuple[str, Scheme, int]] = [
    ("light", "light", 1400),
    ("dark", "dark", 1400),
    ("narrow", "light", 400),
]


def _checked(sight: Sight, name: str, look: str) -> None:
    PICTURES.mkdir(parents=True, exist_ok=True)
    sight.page.screenshot(path=PICTURES / f"{name}-{look}.png", full_page=True)
    assert sight.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (
        f"{name} scrolls sideways"
    )
    if look != "narrow":
        assert sight.violations() == [], name


@pytest.mark.parametrize("third", range(3))
@pytest.mark.parametrize(("look", "scheme", "width"), LOOKS)
def test_every_page_is_sound(
    chromium: Chromium, site: Site, scene: Scene, look: str, scheme: Scheme, width: int, third: int
) -> None:
    with chromium.sight(site.origin, scheme, width) as sight:
        for name, path in list(PAGES.items())[third::3]:
            sight.open(scene.at(path))
            _checked(sight, name, look)


@pytest.mark.parametrize(("look", "scheme", "width"), LOOKS)
def test_the_page_of_an_error_is_sound(
    chromium: Chromium, site: Site, scene: Scene, look: str, scheme: Scheme, width: int
) -> None:
    with chromium.sight(site.origin, scheme, width) as sight:
        for name, path in MISSING.items():
            sight.open(path, status=404)
            _checked(sight, name, look)


@pytest.mark.parametrize(("look", "scheme", "width"), LOOKS)
def test_every_page_says_what_to_do_where_there_is_nothing_yet(
    chromium: Chromium, empty: Site, look: str, scheme: Scheme, width: int
) -> None:
    with chromium.sight(empty.origin, scheme, width) as sight:
        for name in (
            "overview",
            "jobs",
            "queues",
            "workers",
            "inbox",
            "journal",
            "processes",
            "campaigns",
            "schedules",
        ):
            sight.open(PAGES[name])
            _checked(sight, f"{name}-empty", look)
            assert sight.page.locator("main code, main .say, main .btn").count() > 0


@pytest.mark.parametrize("width", [1190, 1280, 1400])
def test_the_navigation_with_its_counts_is_one_line(
    chromium: Chromium, site: Site, scene: Scene, width: int
) -> None:
    with chromium.sight(site.origin, "light", width) as sight:
        page = sight.open("/queues")
        assert page.locator("#pages .count").count() == 2
        box = page.locator("header.top").bounding_box()
        assert box is not None
        assert box["height"] < 60


def test_the_page_of_a_job_is_readable_on_a_narrow_screen(
    chromium: Chromium, site: Site, scene: Scene
) -> None:
    with chromium.sight(site.origin, "light", 400) as sight:
        page = sight.open(scene.at(PAGES["job-result"]))
        box = page.locator(".try .state").bounding_box()
        assert box is not None
        assert box["height"] < 30, "the word is on one line"
        assert "1 of 3 callbacks has not succeeded: 1 backoff." in page.locator(".say").inner_text()


def test_every_page_is_complete_without_the_script(chromium: Chromium, site: Site, scene: Scene) -> None:
    with chromium.sight(site.origin, java_script_enabled=False) as sight:
        for name, path in PAGES.items():
            page = sight.open(scene.at(path))
            assert page.locator("main h1").inner_text()
            assert name == "login" or page.locator("header nav a").count() >= 7


def test_what_people_write_is_shown_as_text_on_every_page(
    chromium: Chromium, site: Site, scene: Scene
) -> None:
    with chromium.sight(site.origin) as sight:
        sight.page.on("dialog", lambda dialog: sight.problems.append(f"dialog: {dialog.message}"))
        shown = []
        for name, path in PAGES.items():
            page = sight.open(scene.at(path))
            if HOSTILE in page.locator("main").inner_text():
                shown.append(name)
        wanted = [
            "overview",
            "jobs",
            "job-hostile",
            "job-hostile-result",
            "job-again-hostile",
            "queues",
            "workers",
            "inbox",
            "journal",
            "processes",
            "schedules",
            "campaigns",
            "campaign-hostile",
        ]
        assert [name for name in wanted if name not in shown] == []
