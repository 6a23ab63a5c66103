"""Every button, pressed by hand."""

import json
import re
from urllib.parse import quote
from uuid import UUID

import pytest
from playwright.sync_api import Page

from switchyard.tokens import hash_of, new_token
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
        page.get_by_role("button", name="Search", exact=True).click()
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


def test_a_job_runs_again_with_changes(chromium: Chromium, site: Site, scene: Scene) -> None:
    job = scene.submit("shell", parameters={"edition": "B", HOSTILE: 2**60}, correlation_id=HOSTILE)
    with chromium.sight(site.origin) as sight:
        page = sight.open(f"/jobs/{job}")
        page.get_by_role("link", name="Run again with changes…").click()
        form = page.get_by_label("Inputs as JSON")
        given = json.loads(form.input_value())
        assert given == {"edition": "B", HOSTILE: 2**60}
        form.fill(json.dumps({**given, "edition": "C"}))
        page.get_by_role("button", name="Submit 1 job").click()
        page.wait_for_url("**/jobs/*-*")
        page.wait_for_url(lambda url: not url.endswith("/again"))
        made = page.url.rpartition("/")[2]
    assert site.database.execute(
        "select parameters, correlation_id, no_cache from switchyard.action where action_uuid = %s", made
    ) == [({"edition": "C", HOSTILE: 2**60}, HOSTILE, None)]


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
        # Not by its place: beside a job far away it may be smaller than a pixel.
        page.locator(".leaf path.f").first.dispatch_event("click")
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


def test_a_message_that_nobody_could_read_is_dismissed(chromium: Chromium, site: Site, scene: Scene) -> None:
    [[entry]] = site.database.execute(
        "insert into switchyard.journal (kind, subject, reason, needs_review) values ('unreadable', 'queue', 'no JSON', true) returning entry_id"
    )
    with chromium.sight(site.origin) as sight:
        page = sight.open("/inbox")
        page.get_by_role("link", name=f"Dismiss… entry {entry}", exact=True).click()
        confirm(page, "Dismiss 1 entry", "a test of somebody")
        page.wait_for_url("**/inbox")
        assert page.get_by_role("link", name=f"Dismiss… entry {entry}", exact=True).count() == 0


def test_a_campaign_is_paused_resumed_retriggered_and_canceled(
    chromium: Chromium, site: Site, scene: Scene
) -> None:
    name = f"summer {HOSTILE}"
    [[campaign]] = site.database.execute(
        "select switchyard.start_campaign(%s, '{}', 30, workflow => 'nutrient')", name
    )
    items = json.dumps([{"id": "one", "parameters": {}}, {"id": "two", "parameters": {}}])
    site.database.execute("select switchyard.feed(%s, '{}', %s, '{}', true)", campaign, items)
    site.database.execute("select * from switchyard.submit_items(30)")
    [[member], _] = site.database.execute(
        "select action_uuid from switchyard.action where member_of = %s", campaign
    )
    scene.event(UUID(str(member)), "FAILED", "no overlap")
    scene.database.execute("select switchyard.callbacks_made(%s, 1)", member)
    with chromium.sight(site.origin) as sight:
        page = sight.open("/campaigns")
        page.get_by_role("link", name=name).click()
        for link, button in (
            ("Pause…", f"Pause {name}"),
            ("Resume…", f"Resume {name}"),
            ("Retrigger 1…", "Retrigger 1"),
            ("Cancel…", f"Cancel {name}"),
        ):
            page.get_by_role("link", name=link, exact=True).click()
            page.get_by_label("Reason").fill(HOSTILE)
            page.get_by_role("button", name=button, exact=True).click()
            page.wait_for_url(re.compile("/campaigns/summer[^/]*$|/campaigns/summer.*textarea%3E$"))
            page = sight.open(f"/campaigns/{quote(name, safe='')}")
    assert site.database.execute(
        "select kind from switchyard.journal where subject = %s order by entry_id", name
    )[:2] == [("pause_campaign",), ("resume_campaign",)]
    assert last_event(site, UUID(str(member)))[:2] == ("PENDING", 2)
    assert last_event(site, UUID(str(campaign)))[0] == "CANCELED"


def test_one_cause_of_a_campaign_is_retriggered(chromium: Chromium, site: Site, scene: Scene) -> None:
    [[campaign]] = site.database.execute(
        "select switchyard.start_campaign('autumn', '{}', 30, workflow => 'nutrient')"
    )
    items = json.dumps([{"id": f"{number}", "parameters": {}} for number in range(3)])
    site.database.execute("select switchyard.feed(%s, '{}', %s, '{}', true)", campaign, items)
    site.database.execute("select * from switchyard.submit_items(30)")
    members = site.database.execute(
        "select action_uuid from switchyard.action where member_of = %s order by 1", campaign
    )
    for [member], error in zip(members, ("tide too high", "tide too high", "no boat"), strict=True):
        scene.event(UUID(str(member)), "FAILED", error)
        scene.database.execute("select switchyard.callbacks_made(%s, 1)", member)
    with chromium.sight(site.origin) as sight:
        page = sight.open("/campaigns/autumn")
        page.get_by_role("row", name="tide too high").get_by_role("link", name="Retrigger 2…").click()
        assert "tide too high" in page.locator("main dl").inner_text()
        confirm(page, "Retrigger 2", "the tide is out")
        page.wait_for_url("**/campaigns/autumn")
        assert page.get_by_role("row", name="tide too high").count() == 0
        assert page.get_by_role("row", name="no boat").count() == 1
    assert [last_event(site, UUID(str(member)))[1] for [member] in members] == [2, 2, 1]


def test_a_schedule_is_triggered_paused_and_resumed(chromium: Chromium, site: Site, scene: Scene) -> None:
    decisions = []
    with chromium.sight(site.origin) as sight:
        for decision in ("Trigger", "Pause", "Resume"):
            page = sight.open("/schedules")
            page.get_by_role("link", name=f"{decision}… nightly", exact=True).click()
            page.get_by_label("Reason").fill("the catalogue is back")
            page.locator("main form button").click()
            page.wait_for_url("**/schedules")
            [[kind]] = site.database.execute(
                "select kind from switchyard.journal where subject = 'nightly' order by entry_id desc limit 1"
            )
            decisions.append(kind)
    assert decisions == ["trigger_schedule", "pause_schedule", "resume_schedule"]


def test_results_are_forgotten(chromium: Chromium, site: Site, scene: Scene) -> None:
    with chromium.sight(site.origin) as sight:
        page = sight.open("/processes/tiles")
        page.get_by_role("link", name="Forget results…").click()
        confirm(page, "Forget 2", "wrong bands")
        page.wait_for_url("**/journal")
        assert "forgot results of" in page.locator("main").inner_text()
        page = sight.open("/results:forget?workflow=tiles")
        page.get_by_text("Nothing matches any more").wait_for()
        assert page.locator("main form").count() == 0


def test_somebody_signs_in_and_out(chromium: Chromium, site: Site, scene: Scene) -> None:
    token = new_token()
    site.database.execute(
        "select switchyard.add_token('olga', %s, 'reader', 'infinity', 'test')", hash_of(token)
    )
    with chromium.sight(site.origin) as sight:
        page = sight.open("/login")
        page.get_by_label("Token").fill(token)
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url(f"{site.origin}/")
        assert len(page.context.cookies()) == 1
        page.get_by_role("button", name="Sign out").click()
        page.wait_for_url("**/login")
        assert sight.page.context.cookies() == []


def test_what_needs_somebody_leads_to_where_it_is_decided(
    chromium: Chromium, site: Site, scene: Scene
) -> None:
    with chromium.sight(site.origin) as sight:
        for link, where in (
            ("What to start of deliver", "**/queues#deliver"),
            ("See workers of yard-c", "**/workers"),
            ("Decide of Inbox", "**/inbox"),
        ):
            page = sight.open("/")
            page.get_by_role("link", name=link).click()
            page.wait_for_url(where)


def test_a_text_is_copied(chromium: Chromium, site: Site, scene: Scene) -> None:
    with chromium.sight(site.origin, permissions=["clipboard-read", "clipboard-write"]) as sight:
        page = sight.open(f"/jobs/{scene.jobs['FAILED']}")
        page.get_by_role("button", name="Copy").click()
        page.get_by_role("button", name="Copied").wait_for()
        assert '"edition": "C"' in page.evaluate("navigator.clipboard.readText()")


def test_jobs_are_searched_where_the_map_is(chromium: Chromium, site: Site, scene: Scene) -> None:
    near = str(scene.submit("shell", parameters={"bbox": [-60.2, -10.2, -60.1, -10.1]}))
    far = str(scene.submit("shell", parameters={"bbox": [60.1, 10.1, 60.2, 10.2]}))
    with chromium.sight(site.origin) as sight:
        page = sight.open("/jobs?bbox=-61,-11,-59,-9")
        page.locator(".leaf path.asked").wait_for()
        assert page.locator(f"#jobs a[href$='{near}']").count() == 1
        assert page.locator("#jobs tbody tr").count() == 1
        with page.expect_navigation(url="**/jobs?bbox=*"):
            page.get_by_role("button", name="Search in this view").click()
        assert page.locator("#jobs tbody tr").count() == 1, "the view is around the box"
        field = [float(part) for part in page.get_by_label("Within").input_value().split(",")]
        assert -63 < field[0] < -61
        assert 59 > field[2] * -1 > 57
        page = sight.open("/jobs")
        page.locator(".leaf path.f").first.wait_for(state="attached")
        box = page.locator(".leaf").bounding_box()
        assert box is not None
        page.keyboard.down("Shift")
        page.mouse.move(box["x"] + 60, box["y"] + 2)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] - 2, box["y"] + box["height"] - 2, steps=4)
        with page.expect_navigation(url="**/jobs?bbox=*"):
            page.mouse.up()
        page.keyboard.up("Shift")
        assert page.locator(f"#jobs a[href$='{far}']").count() == 1


def test_a_decision_can_be_left(chromium: Chromium, site: Site, scene: Scene) -> None:
    job = failed(scene, "exit code 142")
    with chromium.sight(site.origin) as sight:
        for path, back in (
            (f"/jobs/{job}/retrigger", f"/jobs/{job}"),
            ("/campaigns/spring/cancel", "/campaigns/spring"),
            ("/schedules/nightly/pause", "/schedules"),
            ("/queues/shell/pause", "/queues"),
        ):
            page = sight.open(path)
            page.get_by_role("link", name="Leave it as it is").click()
            page.wait_for_url(f"{site.origin}{back}")
    assert last_event(site, job)[:2] == ("FAILED", 1)
