"""Plants a tree of processes that is hard to end, says so when all of it stands, and then ends or stays.

Run as a command by the tests: `plant.py KIND TOKEN end|stay`. Every process of the tree is a `sleep TOKEN`.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Mapping

Exec = Callable[[], None]


def child(then: Callable[[], object]) -> None:
    if os.fork() == 0:
        then()
        os._exit(1)


def sleeper(token: str, environment: Mapping[str, str] = os.environ) -> Exec:
    return lambda: os.execve("/bin/sleep", ["sleep", token], dict(environment))


def background(token: str) -> None:
    child(sleeper(token))


def setsid(token: str) -> None:
    def leave_and_sleep() -> None:
        os.setsid()
        sleeper(token)()

    child(leave_and_sleep)


def daemon(token: str) -> None:
    def second() -> None:
        os.setsid()
        child(sleeper(token))
        os._exit(0)

    child(second)


def term_ignorer(token: str) -> None:
    def ignore_and_sleep() -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        sleeper(token)()

    child(ignore_and_sleep)


def emptied_environment(token: str) -> None:
    def leave_and_sleep() -> None:
        os.setsid()
        sleeper(token, {})()

    child(leave_and_sleep)


def closed_output(token: str) -> None:
    def close_and_live_on() -> None:
        os.closerange(0, 3)
        sleeper(token)()

    child(close_and_live_on)


def fork_of_200(token: str) -> None:
    for _ in range(200):
        background(token)


KINDS: Mapping[str, Callable[[str], None]] = {
    kind.__name__: kind
    for kind in (background, setsid, daemon, term_ignorer, emptied_environment, closed_output, fork_of_200)
}


def all_of_them(token: str) -> None:
    """One of each, and not 200 of one: that takes its time on a busy machine."""
    for kind in KINDS.keys() - {"fork_of_200"}:
        KINDS[kind](token)


def main() -> None:
    kind, token, then = sys.argv[1:]
    # Every process of the tree holds the pipe until its exec: the end of the pipe is the sign that all stand.
    standing, held = os.pipe()
    {**KINDS, "all_of_them": all_of_them}[kind](token)
    os.close(held)
    os.read(standing, 1)
    print("planted", flush=True)
    if then == "stay":
        signal.pause()
    sys.exit(3)


if __name__ == "__main__":
    main()
