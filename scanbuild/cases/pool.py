"""Several workers that share the tasks of one package."""

import queue
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Protocol, Self

from scanbuild.cases.worker import OpenPackage, Ready, Task, TaskResult


class Backend(Protocol):
    """Something that runs tasks on one device and outlives whatever they do: see :class:`session.Session`."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None: ...

    def start(self) -> Ready:
        """Open the device. NoAdapterError if there is none."""

    def open(self, package: OpenPackage) -> None:
        """Take up a package, whose cases run from now on. Raises what is wrong with it."""

    def run(self, task: Task) -> TaskResult:
        """Do a task. Whatever goes wrong is told in the result."""


def run_tasks(backends: Sequence[Backend], tasks: Sequence[Task]) -> Iterator[tuple[int, TaskResult]]:
    """The results of tasks with their indices, as they come. One backend takes them in order.

    An error of a backend, such as no adapter any more, is raised here.
    """
    if len(backends) == 1 or len(tasks) < 2:
        for index, task in enumerate(tasks):
            yield index, backends[0].run(task)
        return
    waiting = deque(enumerate(tasks))
    done: queue.Queue[tuple[int, TaskResult] | BaseException] = queue.Queue()

    def work(backend: Backend) -> None:
        while True:
            try:
                index, task = waiting.popleft()
            except IndexError:
                return
            try:
                done.put((index, backend.run(task)))
            except BaseException as error:
                done.put(error)
                return

    for backend in backends:
        threading.Thread(target=work, args=(backend,), daemon=True).start()
    try:
        for _ in tasks:
            answer = done.get()
            if isinstance(answer, BaseException):
                raise answer
            yield answer
    finally:
        waiting.clear()
