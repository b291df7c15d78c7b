"""A server to be killed: starts the commands it is given and says so, then waits until its input ends.

Run by the tests: `server.py FOLDER SCRIPT...`; the operations are in FOLDER/0, FOLDER/1 and so on.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from sayso.running.launch import Launch
from sayso.running.spawner import Spawner


def main() -> None:
    folder, *scripts = sys.argv[1:]
    spawner = Spawner(pool_size=2)
    for number, script in enumerate(scripts):
        argv = ["bash", "-c", script]
        spawner.start_operation(
            Launch(folder=Path(folder, str(number)), argv=argv, cwd=Path("/"), env={"PATH": "/usr/bin:/bin"})
        )
    print(json.dumps(spawner.idle_runners()), flush=True)
    sys.stdin.read()
    spawner.leave()


if __name__ == "__main__":
    main()
