"""chromium.py: a headless Chromium by its debugging pipe (JSON messages, each ended by a NUL, on descriptors 3 and 4),
with Python's standard library alone. Everything that a page says on its console, every exception and every refused or
failed request is collected in `complaints`."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time


def find():
    """The program, or None."""
    return next((p for p in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if p), None)


class Failure(Exception):
    """The browser ended, answered with an error, or did not answer in time."""


class Browser:
    def __init__(self, width=1280, height=900, dark=False, timeout=120):
        self.timeout, self.last, self.buffer, self.events, self.complaints = timeout, 0, b"", [], []
        self.folder = tempfile.mkdtemp(prefix="lathe-chromium-")
        to_read, self.out = os.pipe()
        self.inn, to_write = os.pipe()

        def descriptors():
            # first out of the way of 3 and 4, then there
            a, b = os.dup2(to_read, 100), os.dup2(to_write, 101)
            os.dup2(a, 3)
            os.dup2(b, 4)

        self.process = subprocess.Popen(
            [find(), "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
             "--no-first-run", "--remote-debugging-pipe", "--user-data-dir=" + self.folder,
             "--disable-background-networking", "--disable-component-update", "about:blank"],
            preexec_fn=descriptors, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        target = self.send("Target.createTarget", {"url": "about:blank"})["targetId"]
        self.session = None
        self.session = self.send("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(domain + ".enable")
        self.send("Emulation.setDeviceMetricsOverride",
                  {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600})
        self.media(dark)

    def media(self, dark, kind=""):
        self.send("Emulation.setEmulatedMedia", {"media": kind, "features": [
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.out)
        os.close(self.inn)
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def read(self, until):
        """The next message; None if none came until then."""
        while b"\0" not in self.buffer:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.inn], [], [], left)[0]:
                return None
            piece = os.read(self.inn, 1 << 20)
            if not piece:
                raise Failure("the browser ended")
            self.buffer += piece
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def note(self, message):
        method, p = message.get("method"), message.get("params", {})
        self.events.append(method)
        if method == "Runtime.exceptionThrown":
            d = p["exceptionDetails"]
            self.complaints.append(d.get("exception", {}).get("description") or d["text"])
        elif method == "Runtime.consoleAPICalled" and p["type"] in ("error", "warning", "assert"):
            self.complaints.append(" ".join(str(a.get("value", a.get("description"))) for a in p["args"]))
        elif method == "Log.entryAdded" and p["entry"]["level"] in ("error", "warning"):
            self.complaints.append(p["entry"]["text"])
        # an answer 304 is "canceled"
        elif method == "Network.loadingFailed" and (p.get("blockedReason") or not p.get("canceled")):
            self.complaints.append("a request failed: " + p.get("errorText", ""))

    def send(self, method, params=None):
        self.last += 1
        message = {"id": self.last, "method": method, "params": params or {}}
        if getattr(self, "session", None):
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.out, data):]
        until = time.monotonic() + self.timeout
        while True:
            answer = self.read(until)
            if answer is None:
                raise Failure(method + ": no answer within %g s" % self.timeout)
            if answer.get("id") == self.last:
                if "error" in answer:
                    raise Failure(method + ": " + answer["error"]["message"])
                return answer["result"]
            self.note(answer)

    def open(self, url):
        """Returns the seconds until the page's load event."""
        self.events.clear()
        start = time.monotonic()
        self.send("Page.navigate", {"url": url})
        while "Page.loadEventFired" not in self.events:
            answer = self.read(start + self.timeout)
            if answer is None:
                raise Failure(url + " did not load")
            self.note(answer)
        return time.monotonic() - start

    def js(self, expression):
        """The value of an expression in the page; promises are waited for."""
        r = self.send("Runtime.evaluate", {"expression": expression, "returnByValue": True, "awaitPromise": True})
        if "exceptionDetails" in r:
            d = r["exceptionDetails"]
            raise Failure(d.get("exception", {}).get("description") or d["text"])
        return r["result"].get("value")

    def until(self, expression, seconds=30):
        end = time.monotonic() + seconds
        while True:
            value = self.js(expression)
            if value or time.monotonic() > end:
                return value
            time.sleep(0.05)

    def key(self, name, code):
        for kind in ("keyDown", "keyUp"):
            self.send("Input.dispatchKeyEvent", {"type": kind, "key": name, "code": name, "windowsVirtualKeyCode": code,
                                                 "text": "\r" if name == "Enter" and kind == "keyDown" else ""})

    def screenshot(self, path, whole=False):
        options = {"format": "png"}
        if whole:
            size = self.send("Page.getLayoutMetrics")["cssContentSize"]
            options.update(captureBeyondViewport=True,
                           clip={"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1})
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.send("Page.captureScreenshot", options)["data"]))

    def pdf(self, path):
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.send("Page.printToPDF",
                                               {"printBackground": True, "preferCSSPageSize": True})["data"]))
