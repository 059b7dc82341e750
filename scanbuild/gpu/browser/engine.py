"""A device in a browser, as verification sees it: an :class:`~scanbuild.gpu.interface.Executor`."""

import time
from collections.abc import Mapping
from typing import Any, Final

from scanbuild.errors import CallError, NoAdapterError, Problem
from scanbuild.gpu.browser.jobjson import job_to_json
from scanbuild.gpu.browser.messages import Message, ProtocolError
from scanbuild.gpu.browser.offer import Offer, read_offer, subgroup_size
from scanbuild.gpu.browser.visitor import GoneError, Visitor
from scanbuild.gpu.engine import CALL_LIMIT_S, OPEN_LIMIT_S
from scanbuild.gpu.failures import compile_error, text_error
from scanbuild.gpu.interface import DispatchJob, Job, JobResult
from scanbuild.planning.device import DeviceRecord

RETURN_LIMIT_S: Final = 30.0
"""So long a page that went away may take to come back."""

_RULES: Final = frozenset({"buffer-size", "out-of-memory", "engine-validation"})
_MOST_CHARACTERS: Final = 4000


class _RefusedTextError(Exception):
    """The browser does not take a text, in its own words."""

    def __init__(self, words: str, rule: str, dispatch: DispatchJob) -> None:
        super().__init__(words)
        self.rule = rule
        self.dispatch = dispatch


class BrowserEngine:
    """A device that a page made. Opening it waits for the page's answer; NoAdapterError if it gives no device.

    After ``lost`` is set, :meth:`reopen` waits for the page and makes a new device.
    """

    name: Final = "browser"
    offer: Offer
    record: DeviceRecord

    def __init__(self, visitor: Visitor, *, call_limit_s: float = CALL_LIMIT_S) -> None:
        self.visitor = visitor
        self.call_limit_s = call_limit_s
        self.lost = ""
        self.subgroup_size: int | None = None
        self._number = 0
        self._watched: list[Message] = []
        self.reopen(OPEN_LIMIT_S)

    @property
    def software(self) -> bool:
        """Whether the adapter computes on the CPU."""
        return self.offer.software

    def describe(self) -> str:
        """Adapter and browser in a line, for people."""
        kind = ", software" if self.software else ""
        return f"{self.offer.name} ({self.offer.browser}{kind}) through browser"

    def adapter_json(self) -> dict[str, Any]:
        """The adapter, as the report's schema has it."""
        return self.offer.adapter_json()

    def run(self, job: Job) -> JobResult:
        """Run a job in the page; see the interface. The page going away is a CallError too, and loses the device."""
        answer = self.ask("run", {}, job, wanted=sum(item.size for item in job.reads))
        if [len(data) for data in answer.contents] != [item.size for item in job.reads]:
            raise self.give_up("the page sent back other sizes than it was asked for")
        seconds = answer.body.get("seconds")
        return JobResult(
            data=tuple(bytes(data) for data in answer.contents),
            seconds=float(seconds) if isinstance(seconds, int | float) else 0.0,
        )

    def ask(self, kind: str, body: Mapping[str, Any], job: Job | None = None, *, wanted: int = 0) -> Message:
        """What the page answers to a request, with ``wanted`` bytes at most. CallError as :meth:`run` raises it.

        A job goes with the request as its member ``job``.
        """
        if job is None:
            return self._ask(kind, body, (), wanted, ())
        self._check_sizes(job)
        value, contents = job_to_json(job)
        try:
            return self._ask(kind, {**body, "job": value}, contents, wanted, job.dispatches)
        except _RefusedTextError as error:
            raise compile_error(error, error.dispatch) from error

    def give_up(self, reason: str) -> CallError:
        """Use the device no more, for a reason; the error to raise."""
        self.lost = reason
        return CallError(Problem(message=reason, rule="device-lost", stage="call"))

    def compile(self, wgsl: str) -> None:
        """Compile a text in the page; see the interface."""
        shader = DispatchJob(id="main", label="", wgsl=wgsl, bindings=(), grid=(1, 1, 1))
        try:
            self._ask("compile", {"wgsl": wgsl}, (), 0, (shader,))
        except _RefusedTextError as error:
            raise text_error(error, error.rule) from error

    def close(self) -> None:
        """Use the device no more. The page releases it when it is told the end, or is left."""
        self.lost = self.lost or "the engine was closed"

    def reopen(self, limit_s: float = RETURN_LIMIT_S) -> None:
        """Wait for the page if it went away, and make a new device; NoAdapterError if that cannot be."""
        end = time.monotonic() + limit_s
        while self.visitor.wait_until_here(end - time.monotonic()):
            try:
                self._open(max(end - time.monotonic(), 1.0))
            except GoneError:
                continue
            return
        raise _no_device(f"the page went away and did not come back within {limit_s:g} s")

    def refresh(self) -> str:
        """Take note of what happened while nothing ran; ``lost``, which says so if the device or the page is gone."""
        while not self.lost:
            try:
                message = self.visitor.receive(0.0)
            except GoneError as error:
                self.lost = f"the page went away: {error}"
            except TimeoutError:
                break
            else:
                if message.kind == "lost":
                    self.lost = f"the device was lost: {_words(message.body)}"
        return self.lost

    def notes(self) -> list[str]:
        """What is odd about the device, though it can be used."""
        info = self.record.adapter_info
        least, most = info.get("subgroupMinSize"), info.get("subgroupMaxSize")
        if self.subgroup_size is None or least is None or most is None or least <= self.subgroup_size <= most:
            return []
        told = f"The browser reports subgroups of {least} to {most}"
        return [f"{told}, which planning goes by, and a shader saw {self.subgroup_size}."]

    def show(self, kind: str, body: Mapping[str, Any]) -> None:
        """Tell the people who watch the page. It is told again to a page that was loaded anew."""
        message = Message(kind=kind, body=body)
        self._watched.append(message)
        self._tell(message)

    def _tell(self, message: Message) -> None:
        try:
            self.visitor.send(message, self.call_limit_s)
        except (GoneError, TimeoutError):
            # Whoever runs the next job hears of it.
            return

    def _open(self, limit_s: float) -> None:
        """Ask for a device, and bring a page that was loaded anew up to date. GoneError if the page goes away."""
        end = time.monotonic() + limit_s
        try:
            self.offer = read_offer(self.visitor.hello)
            self.visitor.send(Message(kind="open", body=self.offer.request()), limit_s)
            while (answer := self.visitor.receive(end - time.monotonic())).kind not in ("device", "refused"):
                continue
            if answer.kind == "refused":
                raise _no_device(f"the browser gives no device: {_words(answer.body)}")
            self.record = self.offer.record(answer.body)
            self.subgroup_size = subgroup_size(answer.body)
        except ProtocolError as error:
            raise _no_device(f"what the page tells of its device cannot be used: {error}") from error
        except TimeoutError:
            raise _no_device(f"the browser gave no device within {limit_s:g} s") from None
        self.lost = ""
        seen = self.visitor.hello.get("seen")
        for message in self._watched[seen if isinstance(seen, int) and seen >= 0 else 0 :]:
            self._tell(message)

    def _check_sizes(self, job: Job) -> None:
        """CallError for a buffer that the device does not allow, so that its contents need not be sent to hear that."""
        most = self.record.limits["maxBufferSize"]
        read_back = ("reading back", sum(item.size for item in job.reads))
        for name, size in (*((item.name, item.size) for item in job.buffers), read_back):
            if size > most:
                words = f"{name} needs a buffer of {size} bytes; the device allows {int(most)} (maxBufferSize)"
                raise CallError(Problem(message=words, rule="buffer-size", stage="call"))

    def _ask(
        self,
        kind: str,
        body: Mapping[str, Any],
        contents: tuple[bytes, ...],
        wanted: int,
        dispatches: tuple[DispatchJob, ...],
    ) -> Message:
        """What the page answers. CallError for what it refuses and for everything that keeps it from answering."""
        if self.lost:
            raise CallError(Problem(message=f"the device cannot be used: {self.lost}", rule="device", stage="call"))
        self._number += 1
        end = time.monotonic() + self.call_limit_s
        try:
            message = Message(kind=kind, body={**body, "number": self._number}, contents=contents)
            self.visitor.send(message, self.call_limit_s, wanted)
            while True:
                answer = self.visitor.receive(end - time.monotonic())
                if answer.kind == "lost":
                    raise self.give_up(f"the device was lost: {_words(answer.body)}")
                if answer.body.get("number") == self._number:
                    break
        except GoneError as error:
            raise self.give_up(f"the page went away: {error}") from error
        except TimeoutError:
            raise self._out_of_time() from None
        if answer.kind == "failed":
            raise self._failure(answer.body, dispatches)
        return answer

    def _out_of_time(self) -> CallError:
        self.lost = f"an earlier call did not end within {self.call_limit_s:g} s"
        message = f"the device did not end its work within {self.call_limit_s:g} s and was given up"
        hint = "a shader that never ends, or one too large for this adapter"
        return CallError(Problem(message=message, rule="time-limit", hint=hint, stage="call"))

    def _failure(self, body: Mapping[str, Any], dispatches: tuple[DispatchJob, ...]) -> Exception:
        """The error for what the browser refused."""
        rule, words, index = body.get("rule"), _words(body), body.get("dispatch")
        if rule == "device-lost":
            return self.give_up(f"the device was lost: {words}")
        if (
            rule in ("shader-compilation", "pipeline-limits")
            and isinstance(index, int)
            and index in range(len(dispatches))
        ):
            return _RefusedTextError(words, rule, dispatches[index])
        known = rule if rule in _RULES else "engine-validation"
        return CallError(Problem(message=f"the browser refused: {words}", rule=known, stage="call"))


def _words(body: Mapping[str, Any]) -> str:
    text = body.get("message")
    return text[:_MOST_CHARACTERS] if isinstance(text, str) and text else "it gives no reason"


def _no_device(message: str) -> NoAdapterError:
    hint = "keep the page in the foreground and the device awake; a page that was closed can be opened again"
    return NoAdapterError(Problem(message=message, hint=hint))
