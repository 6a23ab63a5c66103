"""What a release consists of, after the wheel, the sdist and the SBOM are built: see `make release`.

Adds the hashes of requirements-runtime.lock to the SBOM, writes the notes of this version from CHANGELOG.md,
and SHA256SUMS over everything in the folder. Nothing is published.
"""

import argparse
import hashlib
import json
import re
import sys
from pathlib import Path

import switchyard

ROOT = Path(__file__).parent.parent
Hashes = dict[tuple[str, str], list[str]]


def locked(lock: str) -> Hashes:
    """The SHA-256 of every file that may be installed, by package and version."""
    found: Hashes = {}
    for entry in re.split(r"\n(?=\S)", lock):
        pinned = re.match(r"([\w.-]+)(?:\[[^\]]*\])?==([^\s;]+)", entry)
        if pinned:
            found.setdefault((_name(pinned[1]), pinned[2]), []).extend(re.findall(r"sha256:(\w+)", entry))
    return found


def with_hashes(sbom: str, hashes: Hashes) -> str:
    """The SBOM with the hashes of each component; an error where one is not pinned."""
    content = json.loads(sbom)
    for component in content["components"]:
        if component["name"] == "switchyard":
            continue
        pinned = hashes.get((_name(component["name"]), component["version"]))
        if not pinned:
            raise SystemExit(
                f"{component['name']} {component['version']} is not in requirements-runtime.lock"
            )
        listed = [{"alg": "SHA-256", "content": each} for each in sorted(set(pinned))]
        reference = {"type": "distribution", "url": component["purl"], "hashes": listed}
        others = [each for each in component.get("externalReferences", []) if each["type"] != "distribution"]
        component["externalReferences"] = [*others, reference]
    return json.dumps(content, indent=2) + "\n"


def notes(changelog: str, version: str) -> str:
    """The section of this version; before it has one, what is unreleased."""
    for name in (version, "Unreleased"):
        section = rf"(?ms)^## \[{re.escape(name)}\][^\n]*\n(.*?)(?=^## \[|\Z)"
        found = re.search(section, changelog)
        if found and found[1].strip():
            return f"# Switchyard {version}\n\n{found[1].strip()}\n"
    raise SystemExit(f"CHANGELOG.md says nothing of {version}")


def checksums(folder: Path) -> str:
    """In the format of `sha256sum --check`."""
    files = sorted(path for path in folder.iterdir() if path.is_file() and path.name != "SHA256SUMS")
    return "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files)


def _name(package: str) -> str:
    return re.sub(r"[-_.]+", "-", package).lower()


def main() -> None:
    """Complete the folder and list it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    sbom = folder / "sbom.cdx.json"
    sbom.write_text(with_hashes(sbom.read_text(), locked((ROOT / "requirements-runtime.lock").read_text())))
    changelog = (ROOT / "CHANGELOG.md").read_text()
    (folder / "RELEASE_NOTES.md").write_text(notes(changelog, switchyard.__version__))
    sums = checksums(folder)
    (folder / "SHA256SUMS").write_text(sums)
    sys.stdout.write(f"{sums}Switchyard {switchyard.__version__} in {folder}. Nothing was published.\n")


if __name__ == "__main__":
    main()
