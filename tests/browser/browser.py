"""A headless Chromium, driven over its debugging pipe with Python alone."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
LIMIT_S = 40


def find():
    """Path of a Chromium, or None."""
    for name in NAMES:
        path = shutil.which(name)
        if path:
            return path
    return None


class Browser:
    def __init__(self, path):
        self.profile = tempfile.mkdtemp()
        self.downloads = tempfile.mkdtemp()
        to_read, self.to = os.pipe()
        self.back, to_write = os.pipe()

        def place():
            # The browser reads descriptor 3 and writes descriptor 4.
            first, second = os.dup(to_read), os.dup(to_write)
            os.dup2(first, 3)
            os.dup2(second, 4)

        words = [path, "--headless=new", "--remote-debugging-pipe",
                 "--disable-gpu", "--no-first-run", "--disable-extensions",
                 "--disable-background-networking", "--hide-scrollbars",
                 "--user-data-dir=" + self.profile]
        if os.getuid() == 0:
            words.append("--no-sandbox")
        self.process = subprocess.Popen(
            words, preexec_fn=place, close_fds=False,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.buffer, self.count, self.events = b"", 0, []
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")
        self.session = self.call(
            "Target.attachToTarget", targetId=target["targetId"],
            flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(domain + ".enable")

    def receive(self):
        end = time.monotonic() + LIMIT_S
        while b"\0" not in self.buffer:
            ready = select.select([self.back], [], [], 1)[0]
            if ready:
                piece = os.read(self.back, 1 << 20)
                if not piece:
                    raise RuntimeError("the browser is gone")
                self.buffer += piece
            elif time.monotonic() > end:
                raise RuntimeError("the browser does not answer")
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **params):
        self.count += 1
        message = {"id": self.count, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.count:
                if "error" in answer:
                    raise RuntimeError("%s: %s" % (method, answer["error"]))
                return answer["result"]
            self.events.append(answer)

    def wait_for(self, event):
        while True:
            for i, seen in enumerate(self.events):
                if seen.get("method") == event:
                    del self.events[:i + 1]
                    return seen
            self.events.append(self.receive())

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width,
                  height=height, deviceScaleFactor=1, mobile=width < 600)

    def scheme(self, value):
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": value}])

    def open(self, path):
        """Load a file; gives what was requested and complained of."""
        self.events = []
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        seen = []
        while not any(e.get("method") == "Page.loadEventFired"
                      for e in seen):
            seen.append(self.events.pop(0) if self.events
                        else self.receive())
        self.evaluate("1")
        seen += self.events
        asked = [e["params"]["request"]["url"] for e in seen
                 if e.get("method") == "Network.requestWillBeSent"]
        said = [e["params"] for e in seen if e.get("method") in (
            "Runtime.exceptionThrown", "Runtime.consoleAPICalled",
            "Log.entryAdded")]
        return asked, said

    def evaluate(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression,
                           returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError("%s: %s" % (
                expression, answer["exceptionDetails"]))
        return answer["result"].get("value")

    def key(self, key, code, text=""):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key,
                      code=key, windowsVirtualKeyCode=code,
                      text=text if kind == "keyDown" else "")

    def picture(self, path, whole=True):
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        data = self.call(
            "Page.captureScreenshot", captureBeyondViewport=whole,
            clip={"x": 0, "y": 0, "width": size["width"],
                  "height": min(size["height"], 16000), "scale": 1})["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.to)
        os.close(self.back)
        shutil.rmtree(self.profile, ignore_errors=True)
        shutil.rmtree(self.downloads, ignore_errors=True)
