"""`make release`: everything that a release consists of, with hashes; nothing is published."""

import json
import subprocess
import tarfile
from pathlib import Path

import pytest

import switchyard
from tests.acceptance.packaging.test_wheel import BIN, ROOT
from tools.release import checksums, locked, notes, with_hashes

LOCK = "aiohttp==3.14.5 \\\n    --hash=sha256:aa \\\n    --hash=sha256:bb\npsycopg[binary]==3.3.1 ; x \\\n    --hash=sha256:cc\n"


def sbom(name: str, version: str) -> str:
    component = {"name": name, "version": version, "purl": f"pkg:pypi/{name}@{version}"}
    return json.dumps({"components": [component, {"name": "switchyard", "version": "0.1.0"}]})


def test_the_sbom_has_the_hashes_of_the_lock_file() -> None:
    content = json.loads(with_hashes(sbom("AioHTTP", "3.14.5"), locked(LOCK)))
    (reference,) = content["components"][0]["externalReferences"]
    assert [each["content"] for each in reference["hashes"]] == ["aa", "bb"]


def test_a_component_that_is_not_pinned_is_refused() -> None:
    with pytest.raises(SystemExit, match=r"psycopg 3\.3\.2 is not in requirements-runtime\.lock"):
        with_hashes(sbom("psycopg", "3.3.2"), locked(LOCK))


def test_notes_are_those_of_the_version_or_of_what_is_unreleased() -> None:
    changelog = "# Changelog\n\n## [Unreleased]\n\n- new\n\n## [0.1.0] - 2026-01-01\n\n- first\n"
    assert notes(changelog, "0.1.0") == "# Switchyard 0.1.0\n\n- first\n"
    assert notes(changelog, "0.2.0") == "# Switchyard 0.2.0\n\n- new\n"
    with pytest.raises(SystemExit, match=r"says nothing of 0\.3\.0"):
        notes("# Changelog\n\n## [Unreleased]\n", "0.3.0")


def test_checksums_can_be_checked(tmp_path: Path) -> None:
    (tmp_path / "a.whl").write_text("wheel")
    (tmp_path / "SHA256SUMS").write_text(checksums(tmp_path))
    check = ["sha256sum", "--check", "--strict", "SHA256SUMS"]
    assert subprocess.run(check, cwd=tmp_path, check=False, capture_output=True).returncode == 0
    (tmp_path / "a.whl").write_text("another wheel")
    assert subprocess.run(check, cwd=tmp_path, check=False, capture_output=True).returncode == 1


def test_the_sdist_is_what_git_has(tmp_path: Path) -> None:
    subprocess.run([BIN / "hatchling", "build", "-t", "sdist", "-d", tmp_path], cwd=ROOT, check=True)
    (built,) = tmp_path.glob("*.tar.gz")
    top = f"switchyard-{switchyard.__version__}/"
    with tarfile.open(built) as archive:
        names = {name.removeprefix(top) for name in archive.getnames()}
    files = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = set(subprocess.check_output(files, cwd=ROOT, text=True).splitlines())
    assert names - listed == {"PKG-INFO"}
    assert {"pyproject.toml", "switchyard/__init__.py", "migrations/env.py", "tests/conftest.py"} <= names


@pytest.mark.slow
def test_a_dry_run() -> None:
    done = subprocess.run(
        ["make", "release", "CONTAINERS=false"], cwd=ROOT, check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    dist = ROOT / "dist"
    built = {path.name for path in dist.iterdir()}
    prefix = f"switchyard-{switchyard.__version__}"
    wheel, source = f"{prefix}-py3-none-any.whl", f"{prefix}.tar.gz"
    assert built == {wheel, source, "sbom.cdx.json", "RELEASE_NOTES.md", "SHA256SUMS"}
    assert subprocess.run(["sha256sum", "--check", "SHA256SUMS"], cwd=dist, check=False).returncode == 0
    components = json.loads((dist / "sbom.cdx.json").read_text())["components"]
    assert len(components) > 40
    assert all("SHA-256" in json.dumps(each) for each in components if each["name"] != "switchyard")
