"""A headless Chromium, driven through a pair of pipes; nothing but the program itself is needed."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
PROGRAM = next(filter(None, map(shutil.which, NAMES)), "")
MISSING = "" if PROGRAM and sys.platform == "linux" else "there is no Chromium here"
ROOT = "document.querySelector('div.deepgraph').shadowRoot"  # of the first widget


def exported(notebook: Any, theme: str) -> str:
    """A notebook as the page that nbconvert makes of it, without the libraries it would fetch."""
    nbconvert = pytest.importorskip("nbconvert", reason="nbconvert is not installed")
    exporter = nbconvert.HTMLExporter(theme=theme, embed_images=True)
    text, _ = exporter.from_notebook_node(notebook)
    return re.sub(r'<(script|link)[^>]*(src|href)="https?:[^>]*>(</script>)?', "", text)


class Browser:
    """One page, light or dark.

    What scripts throw is kept in `errors`, what pages ask for in `asked`.
    """

    def __init__(self, folder: Path, dark: bool = False) -> None:
        commands, self._write = os.pipe()
        answers, written = os.pipe()
        self._process = subprocess.Popen(
            ["bash", "-c", f'exec "$0" "$@" 3<&{commands} 4>&{written}', PROGRAM,
             "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
             "--window-size=1300,900", f"--user-data-dir={folder / 'browser'}"],
            pass_fds=(commands, written), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(commands)
        os.close(written)
        self._answers = os.fdopen(answers, "rb")
        self._session, self._count, self._loaded = "", 0, False
        self.errors: list[str] = []
        self.asked: list[str] = []
        target = self._send("Target.createTarget", url="about:blank")
        attached = self._send("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network"):
            self._send(f"{domain}.enable")
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._send("Emulation.setEmulatedMedia", features=[scheme])

    def __enter__(self) -> Browser:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self._process.terminate()
        self._process.wait(30)
        self._answers.close()
        os.close(self._write)

    def open(self, path: Path) -> None:
        """Load a file and wait until its scripts have run."""
        self._loaded = False
        self._send("Page.navigate", url=path.as_uri())
        self._until(lambda: self._loaded)

    def run(self, script: str) -> Any:
        """The value of an expression of JavaScript; `ROOT` in it is the first widget's root."""
        found = self._send(
            "Runtime.evaluate", expression=script.replace("ROOT", ROOT), returnByValue=True
        )
        if "exceptionDetails" in found:
            raise AssertionError(found["exceptionDetails"]["exception"]["description"])
        return found["result"].get("value")

    def click(self, selector: str) -> None:
        """Press and release the mouse on what a selector finds in the widget."""
        x, y = self._middle(selector)
        for kind in ("mousePressed", "mouseReleased"):
            self._send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def hover(self, selector: str) -> None:
        """Move the mouse to what a selector finds in the widget."""
        x, y = self._middle(selector)
        self._send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def screenshot(self) -> bytes:
        """What is seen, as PNG."""
        return base64.b64decode(self._send("Page.captureScreenshot")["data"])

    def _middle(self, selector: str) -> tuple[float, float]:
        x, y = self.run(
            f"(() => {{ const e = ROOT.querySelector({selector!r});"
            "e.scrollIntoView({block: 'center', inline: 'center'});"
            "const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + 4]; })()"
        )
        return x, y

    def _send(self, method: str, **params: Any) -> dict[str, Any]:
        self._count += 1
        message = {"id": self._count, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            got = self._message()
            if got.get("id") == self._count:
                assert "error" not in got, got
                return dict(got["result"])

    def _message(self) -> dict[str, Any]:
        text = bytearray()
        while (byte := self._answers.read(1)) != b"\0":
            assert byte, "the browser ended"
            text += byte
        got: dict[str, Any] = json.loads(text)
        if got.get("method") == "Runtime.exceptionThrown":
            self.errors.append(got["params"]["exceptionDetails"]["exception"]["description"])
        if got.get("method") == "Network.requestWillBeSent":
            self.asked.append(got["params"]["request"]["url"])
        self._loaded |= got.get("method") == "Page.loadEventFired"
        return got

    def _until(self, done: Callable[[], bool], seconds: float = 30) -> None:
        end = time.monotonic() + seconds
        while not done():
            assert time.monotonic() < end, "the page does not load"
            self._message()
