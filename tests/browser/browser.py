"""A headless Chromium, driven over its DevTools protocol."""
import base64
import json
import os
import subprocess
import tempfile
import time
import urllib.request

import websocket


class Browser:
    def __init__(self, program):
        # Its processes may write their profile a little longer than it takes to end.
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.process = subprocess.Popen(
            [program, "--no-sandbox", "--headless=new", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
             "--disable-background-networking", "--remote-debugging-port=0", "--remote-allow-origins=*",
             f"--user-data-dir={self.folder.name}", "about:blank"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        page = next(target for target in self._targets() if target["type"] == "page")
        self.socket = websocket.create_connection(page["webSocketDebuggerUrl"], timeout=60, suppress_origin=True)
        self.n_calls = 0
        self.events = []
        self.call("Emulation.setFocusEmulationEnabled", enabled=True)
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def _targets(self):
        port_file = os.path.join(self.folder.name, "DevToolsActivePort")
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if os.path.exists(port_file) and len(open(port_file).read().split()) > 1:
                port = open(port_file).read().split()[0]
                return json.load(urllib.request.urlopen(f"http://127.0.0.1:{port}/json"))
            time.sleep(0.05)
        raise RuntimeError("Chromium does not start")

    def call(self, method, **parameters):
        self.n_calls += 1
        self.socket.send(json.dumps({"id": self.n_calls, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self.socket.recv())
            if answer.get("id") == self.n_calls:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def run(self, script):
        """The value of a JavaScript expression."""
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{script}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def open(self, file, width=1360, height=900, dark=False):
        """Shows a file and waits until the page has drawn itself."""
        self.events.clear()
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.call("Page.navigate", url="file://" + file)
        self.wait("document.readyState === 'complete' && location.href !== 'about:blank' && document.querySelector('main, .notice')")

    def wait(self, condition, seconds=20):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if self.run(f"!!({condition})"):
                return
            time.sleep(0.05)
        raise AssertionError(f"never true: {condition}")

    def troubles(self):
        """What the page complained about, and what it asked the network for, since it was opened."""
        found = []
        for event in self.events:
            parameters = event.get("params", {})
            if event["method"] == "Runtime.exceptionThrown":
                found.append(parameters["exceptionDetails"].get("exception", {}).get("description", "exception"))
            if event["method"] == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
                found.append(parameters["entry"]["text"])
            if event["method"] == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
                found.append(str(parameters["args"]))
            if event["method"] == "Network.requestWillBeSent" and not parameters["request"]["url"].startswith(("file:", "data:")):
                found.append("asks for " + parameters["request"]["url"])
        return found

    def key(self, key):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key)

    def screenshot(self, file):
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)["data"]
        open(file, "wb").write(base64.b64decode(data))

    def pdf(self):
        return base64.b64decode(self.call("Page.printToPDF", preferCSSPageSize=True, printBackground=True)["data"])

    def close(self):
        self.socket.close()
        self.process.terminate()
        self.process.wait()
        self.folder.cleanup()
