"""What a local workflow of the load runs, as `python -S process.py STARTS`.

Every start leaves a line in the file STARTS, so that a second one of the same run cannot hide.
"""

import json
import os
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit


def main(starts: str) -> int:
    run = int(os.environ["SWITCHYARD_RUN"])
    line = f"{os.environ['SWITCHYARD_ACTION_UUID']} {run}\n"
    os.write(os.open(starts, os.O_APPEND | os.O_CREAT | os.O_WRONLY), line.encode())
    given = json.loads(Path(urlsplit(os.environ["SWITCHYARD_INPUT"]).path).read_text())
    time.sleep(given["seconds"])
    if code := given["codes"][run - 1] if run <= len(given["codes"]) else 0:
        print("as requested", file=sys.stderr)
        return int(code)
    output = {"n": given["n"], "features": [{"place": place} for place in range(given["items"])]}
    Path(urlsplit(os.environ["SWITCHYARD_OUTPUT"]).path, "output.json").write_text(json.dumps(output))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
