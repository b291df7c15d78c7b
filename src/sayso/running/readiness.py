"""Waits until file descriptors are ready, and names them in the order in which they became so, where the system tells
that order. Small: every runner carries it."""

from __future__ import annotations

import select


class Readiness:
    """What `select.poll` does, with that order where there is epoll."""

    def __init__(self) -> None:
        self._epoll = select.epoll() if hasattr(select, "epoll") else None
        self._poll = select.poll()
        self._events: dict[int, int] = {}

    def register(self, fd: int, events: int) -> None:
        """Wait for this too, from now on."""
        if self._epoll is None:
            self._poll.register(fd, events)
        elif fd in self._events:
            self._epoll.modify(fd, events)
        else:
            self._epoll.register(fd, events)
        self._events[fd] = events

    def register_pipe(self, fd: int) -> None:
        """The same for the end of a pipe that is read from until it is empty, or else named by `has_more`. It is told
        anew with each thing that is written: one that stays ready would keep its place before others."""
        self.register(fd, select.POLLIN if self._epoll is None else select.EPOLLIN | select.EPOLLET)

    def has_more(self, fd: int) -> None:
        """This pipe was not read until it was empty: name it again, after the others."""
        self.register(fd, self._events[fd])

    def unregister(self, fd: int) -> None:
        """Wait for it no more; a KeyError where it was not waited for."""
        del self._events[fd]
        (self._poll if self._epoll is None else self._epoll).unregister(fd)

    def ready(self, seconds: float) -> list[int]:
        """Those that are ready, as soon as any is or the time is up."""
        # A moment more, so that the time is really up then.
        patience = seconds + 0.001 if seconds else 0
        if self._epoll is None:
            return [fd for fd, _ in self._poll.poll(patience * 1000)]
        return [fd for fd, _ in self._epoll.poll(patience)]

    def close(self) -> None:
        if self._epoll is not None:
            self._epoll.close()
