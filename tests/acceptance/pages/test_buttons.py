"""Every button, pressed by hand."""

from uuid import UUID

import pytest
from playwright.sync_api import Page

from tests.acceptance.pages.conftest import Site
from tests.acceptance.pages.scene import HOSTILE, Scene
from tests.parts.browser import Chromium


def confirm(page: Page, button: str, reason: str = "the node is back") -> None:
    """Give a reason and confirm."""
    page.get_by_label("Reason").fill(reason)
    page.get_by_role("button", name=button, exact=True).click()


def failed(scene: Scene, error: str) -> UUID:
    """A job of its own that failed with that error, with its callbacks made."""
    uuid = scene.submit("shell")
    scene.event(uuid, "FAILED", error)
    scene.database.execute("select switchyard.callbacks_made(%s, 1)", uuid)
    return uuid


def last_event(site: Site, uuid: UUID) -> tuple[object, ...]:
    """Status, run, who and why."""
    [row] = site.database.execute(
        "select status::text, run, detail ->> 'actor', detail ->> 'reason' from switchyard.event"
        " where action_uuid = %s order by event_time desc, event_id desc limit 1",
        uuid,
    )
    return row


@pytest.mark.parametrize("name", ["shell", HOSTILE])
def test_a_queue_is_paused_and_resumed_with_a_reason(
    chromium: Chromium, site: Site, scene: Scene, name: str
) -> None:
    site.database.execute("select switchyard.resume(%s, 'test', 'as before')", name)
    with chromium.sight(site.origin) as sight:
        page = sight.open("/queues")
        page.get_by_role("link", name=f"Pause… {name}", exact=True).click()
        page.get_by_role("button", name=f"Pause {name}", exact=True).click()
        assert page.evaluate("document.activeElement.name") == "reason", "a reason is required"
        page.get_by_label("Reason").fill("the partner is down")
        page.get_by_role("button", name=f"Pause {name}", exact=True).click()
        page.wait_for_url("**/queues")
        assert site.database.execute(
            "select actor, reason from switchyard.paused where action_name = %s", name
        ) == [("anonymous", "the partner is down")]
        page.get_by_role("link", name=f"Resume… {name}", exact=True).click()
        page.get_by_label("Reason").fill("it is back")
        page.get_by_role("button", name=f"Resume {name}", exact=True).click()
        page.wait_for_url("**/queues")
        assert site.database.execute("select from switchyard.paused where action_name = %s", name) == []


def test_a_failed_job_is_retriggered_from_its_page(chromium: Chromium, site: Site, scene: Scene) -> None:
    job = failed(scene, "exit code 137")
    with chromium.sight(site.origin) as sight:
        page = sight.open(f"/jobs/{job}")
        page.get_by_role("link", name="Retrigger…").click()
        confirm(page, "Retrigger 1 job", HOSTILE)
        page.wait_for_url(f"**/jobs/{job}")
        assert "Pending" in page.locator("h1").inner_text()
        assert HOSTILE in page.locator("#runs").inner_text()
        assert page.get_by_role("link", name="Retrigger…").count() == 0
    assert last_event(site, job) == ("PENDING", 2, "anonymous", HOSTILE)


def test_an_open_job_is_canceled_from_its_page(chromium: Chromium, site: Site, scene: Scene) -> None:
    job = scene.submit("shell")
    with chromium.sight(site.origin) as sight:
        page = sight.open(f"/jobs/{job}")
        page.get_by_role("link", name="Cancel…").click()
        confirm(page, "Cancel 1 job", "wrong area")
        page.wait_for_url(f"**/jobs/{job}")
        assert "Canceled" in page.locator("h1").inner_text()
    assert last_event(site, job) == ("CANCELED", 1, "anonymous", "wrong area")


def test_callbacks_are_made_again_from_the_page_of_a_job(
    chromium: Chromium, site: Site, scene: Scene
) -> None:
    job = failed(scene, "exit code 138")
    with chromium.sight(site.origin) as sight:
        page = sight.open(f"/jobs/{job}")
        page.get_by_role("link", name="Make callbacks again…").click()
        confirm(page, "Make callbacks again", "the receiver was away")
        page.wait_for_url(f"**/jobs/{job}")
        assert "had its callbacks made again" in page.locator("main").inner_text()


def test_an_entry_of_the_inbox_is_dismissed_or_retriggered(
    chromium: Chromium, site: Site, scene: Scene
) -> None:
    dismissed, again = failed(scene, "exit code 139"), failed(scene, "exit code 140")
    with chromium.sight(site.origin) as sight:
        page = sight.open("/inbox")
        page.get_by_role("link", name=f"Dismiss… …{str(dismissed)[-4:]}").click()
        confirm(page, "Dismiss 1 action", "known")
        page.wait_for_url("**/inbox")
        page.get_by_role("link", name=f"Retrigger… …{str(again)[-4:]}").click()
        confirm(page, "Retrigger 1 action")
        page.wait_for_url("**/inbox")
        assert f"…{str(dismissed)[-4:]}" not in page.locator("main").inner_text()
    assert last_event(site, again)[:2] == ("PENDING", 2)


def test_a_cause_is_retriggered_as_one(chromium: Chromium, site: Site, scene: Scene) -> None:
    jobs = [failed(scene, f"disk {number} of the <b>store</b> is full") for number in range(3)]
    with chromium.sight(site.origin) as sight:
        page = sight.open("/inbox")
        cause = page.locator(".cause", has_text="is full")
        cause.get_by_role("link", name="Retrigger 3…").click()
        confirm(page, "Retrigger 3")
        page.wait_for_url("**/inbox")
        assert page.locator(".cause", has_text="is full").count() == 0
    assert {last_event(site, job)[1] for job in jobs} == {2}


def test_selected_jobs_are_retriggered_or_canceled_together(
    chromium: Chromium, site: Site, scene: Scene
) -> None:
    bad = [failed(scene, "exit code 141") for _ in range(2)]
    waiting = scene.submit("shell")
    with chromium.sight(site.origin) as sight:
        page = sight.open("/jobs")
        assert page.locator("#bulk").is_hidden()
        for job in (*bad, waiting):
            page.locator(f"input[value='{job}']").check()
        assert page.get_by_role("button", name="Cancel 1…").is_enabled()
        page.get_by_role("button", name="Retrigger 2…").click()
        confirm(page, "Retrigger 2")
        page.wait_for_url("**/inbox")
        page = sight.open("/jobs")
        page.locator(f"input[value='{waiting}']").check()
        page.get_by_role("button", name="Cancel 1…").click()
        confirm(page, "Cancel 1")
        page.wait_for_url("**/jobs")
    assert [last_event(site, job)[0] for job in (*bad, waiting)] == ["PENDING", "PENDING", "CANCELED"]


def test_a_set_that_has_changed_is_refused_with_both_numbers(
    chromium: Chromium, site: Site, scene: Scene
) -> None:
    for number in range(2):
        failed(scene, f"pond {number} is dry")
    with chromium.sight(site.origin) as sight:
        page = sight.open("/inbox")
        page.locator(".cause", has_text="is dry").get_by_role("link", name="Retrigger 2…").click()
        failed(scene, "pond 3 is dry")
        confirm(page, "Retrigger 2")
        page.get_by_text("Nothing was changed.").wait_for()
        assert "3 actions match now, and 2 were expected" in page.locator("h1").inner_text()


def test_jobs_are_searched_by_a_form(chromium: Chromium, site: Site, scene: Scene) -> None:
    with chromium.sight(site.origin) as sight:
        page = sight.open("/jobs")
        page.get_by_label("Error contains").fill("timed_out on the way")
        page.get_by_label("Status").select_option("failed")
        page.get_by_role("button", name="Search").click()
        page.wait_for_url("**/jobs?*")
        assert page.locator("#jobs tbody tr").count() == 1
        assert page.get_by_label("Error contains").input_value() == "timed_out on the way"


def test_a_job_is_submitted_by_a_form(chromium: Chromium, site: Site, scene: Scene) -> None:
    with chromium.sight(site.origin) as sight:
        page = sight.open("/processes/nutrient")
        page.get_by_label("Inputs as JSON").fill("{not json")
        page.get_by_role("button", name="Submit 1 job").click()
        page.get_by_text("is not valid JSON").first.wait_for()
        page = sight.open("/processes/nutrient")
        page.get_by_label("Inputs as JSON").fill('{"edition": "C"}')
        page.get_by_role("button", name="Submit 1 job").click()
        page.wait_for_url("**/jobs/*")
        assert '"edition": "C"' in page.locator("#parameters").inner_text()


def test_a_report_is_shown_in_a_sandbox(chromium: Chromium, site: Site, scene: Scene) -> None:
    """What a workflow wrote runs no script: a script of it would open a dialog, or be reported."""
    with chromium.sight(site.origin) as sight:
        sight.page.on("dialog", lambda dialog: sight.problems.append(f"dialog: {dialog.message}"))
        page = sight.open(f"/jobs/{scene.jobs['RESULT']}")
        page.get_by_role("link", name="report", exact=True).click()
        page.wait_for_url("**/files/report.html")
        assert page.locator("h1").inner_text() == "Report"


def test_a_map_can_be_moved_and_leads_to_a_job(chromium: Chromium, site: Site, scene: Scene) -> None:
    with chromium.sight(site.origin) as sight:
        page = sight.open(f"/jobs/{scene.jobs['RESULT']}")
        page.locator(".leaf path.f").first.wait_for()
        assert page.locator(".leaf path.f").count() == 6
        page.get_by_role("button", name="Zoom in").click()
        page = sight.open("/jobs?status=accepted")
        page.locator(".leaf path.f").first.click()
        page.wait_for_url("**/jobs/*-*")


def test_keys_move_between_rows_and_select(chromium: Chromium, site: Site, scene: Scene) -> None:
    with chromium.sight(site.origin) as sight:
        page = sight.open("/jobs")
        page.keyboard.press("j")
        page.keyboard.press("j")
        page.keyboard.press("x")
        assert page.locator(".pick input[name=id]").nth(1).is_checked()
        page.keyboard.press("k")
        page.keyboard.press("Enter")
        page.wait_for_url("**/jobs/*")


def test_a_job_is_found_by_the_end_of_its_id(chromium: Chromium, site: Site, scene: Scene) -> None:
    job = str(scene.jobs["AGAIN"])
    with chromium.sight(site.origin) as sight:
        page = sight.open("/queues")
        for written in (f"…{job[-4:]}", job, job[:13].upper()):
            page.keyboard.press("/")
            page.keyboard.type(written)
            with page.expect_navigation(url="**/jobs?id=*"):
                page.keyboard.press("Enter")
            assert page.locator(f"#jobs a[href$='{job}']").count() == 1
