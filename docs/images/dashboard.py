"""Writes dashboard.png: the job page of the sample assessment, from a real run of `switchyard up`.

    make run                                         # in another terminal
    .venv/bin/python docs/images/dashboard.py http://127.0.0.1:8080

Of the newest successful job; how long it usually takes is known after eight: submit the sample's again.
Needs Chromium and the development packages.
"""

import json
import shutil
import sys
import urllib.request
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

PICTURE = Path(__file__).with_name("dashboard.png")


def main(origin: str) -> None:
    with urllib.request.urlopen(f"{origin}/jobs?f=json&status=successful") as answer:  # noqa: S310 - our own
        job = json.load(answer)["jobs"][0]["jobID"]
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"))
        page = browser.new_page(viewport={"width": 1280, "height": 1360})
        page.goto(f"{origin}/jobs/{job}?f=html")
        page.locator(".leaf path.f").first.wait_for()
        page.screenshot(path=PICTURE)
        browser.close()
    with Image.open(PICTURE) as taken:  # 128 colours: a third of the size
        small = taken.convert("RGB").quantize(128, dither=Image.Dither.NONE)
    small.save(PICTURE, optimize=True)


if __name__ == "__main__":
    main(sys.argv[1])
