"""Pages follow what happens, without a reload and without disturbing the reader."""

import pytest
from playwright.sync_api import expect

from tests.acceptance.pages.conftest import Site
from tests.acceptance.pages.scene import Scene
from tests.parts.browser import Chromium


def test_a_job_is_followed_to_its_end(chromium: Chromium, site: Site, scene: Scene) -> None:
    job = scene.submit("shell")
    with chromium.sight(site.origin) as sight:
        page = sight.open(f"/jobs/{job}")
        expect(page.locator(".live")).to_have_text("live")
        scene.event(job, "QUEUED")
        expect(page.locator("h1")).to_contain_text("Queued")
        scene.event(job, "RUNNING")
        expect(page.locator("h1")).to_contain_text("Running")
        scene.event(job, "FAILED", "exit code 1: <b>no</b> overlap")
        expect(page.locator("h1")).to_contain_text("Failed")
        expect(page.locator("#runs")).to_contain_text("exit code 1: <b>no</b> overlap")
        expect(page.locator("#path svg").first).to_have_attribute(
            "aria-label", "Run 1: pending, queued, running, failed."
        )


def test_new_jobs_wait_behind_a_link_and_ticked_boxes_stay(
    chromium: Chromium, site: Site, scene: Scene
) -> None:
    old = scene.submit("shell")
    with chromium.sight(site.origin) as sight:
        page = sight.open("/jobs")
        expect(page.locator(".live")).to_have_text("live")
        page.locator(f"input[value='{old}']").check()
        new = scene.submit("shell")
        expect(page.locator(".fresh")).to_be_visible()
        expect(page.locator(f"input[value='{new}']")).to_be_hidden()
        expect(page.locator(f"input[value='{old}']")).to_be_checked()
        page.locator(".fresh").click()
        expect(page.locator(f"input[value='{new}']")).to_be_visible()


@pytest.mark.parametrize("path", ["/", "/queues"])
def test_a_pause_appears_and_goes(chromium: Chromium, site: Site, scene: Scene, path: str) -> None:
    with chromium.sight(site.origin) as sight:
        page = sight.open(path)
        expect(page.locator(".live").first).to_have_text("live")
        site.database.execute("select switchyard.pause('shell', 'ops', 'the store is full')")
        expect(page.locator("main")).to_contain_text("the store is full")
        site.database.execute("select switchyard.resume('shell', 'ops', 'it has room')")
        expect(page.locator("main")).not_to_contain_text("the store is full")


def test_the_lamp_shows_when_the_server_is_gone(chromium: Chromium, empty: Site) -> None:
    with chromium.sight(empty.origin) as sight:
        page = sight.open("/workers")
        expect(page.locator(".live")).to_have_text("live")
        empty.deployment.close()
        expect(page.locator(".live")).to_have_class("live still")
        sight.problems.clear()  # the browser logs that the connection is refused
