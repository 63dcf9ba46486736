"""A headless Chromium, driven through its debugging pipe: messages of JSON, each
ended by a zero byte."""
import base64
import json
import os
import shutil
import subprocess

from waiting import PATIENCE_S

CHROMIUM = shutil.which('chromium') or shutil.which('chromium-browser')


class Browser:
    """One page of a headless Chromium."""

    def __init__(self, folder):
        to_browser, self._to = os.pipe()
        self._from, from_browser = os.pipe()

        def use_pipes():
            # What comes as 3 or 4 must not be overwritten before it is moved.
            high_in, high_out = os.dup(to_browser), os.dup(from_browser)
            os.dup2(high_in, 3)
            os.dup2(high_out, 4)

        # pass_fds would close 3 and 4 again.
        self._process = subprocess.Popen(
            [CHROMIUM, '--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage',
             '--remote-debugging-pipe', '--user-data-dir=' + folder, 'about:blank'],
            preexec_fn=use_pipes, close_fds=False, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self._answers = os.fdopen(self._from, 'rb')
        self._last = 0
        self._session = None
        target = self.call('Target.createTarget', url='about:blank')['targetId']
        self._session = self.call('Target.attachToTarget', targetId=target,
                                  flatten=True)['sessionId']

    def _read(self):
        message = bytearray()
        while True:
            byte = self._answers.read(1)
            if not byte:
                raise EOFError('the browser has gone')
            if byte == b'\0':
                return json.loads(message)
            message += byte

    def call(self, method, **parameters):
        self._last += 1
        message = {'id': self._last, 'method': method, 'params': parameters}
        if self._session:
            message['sessionId'] = self._session
        os.write(self._to, json.dumps(message).encode() + b'\0')
        while True:
            answer = self._read()
            if answer.get('id') == self._last:
                assert 'error' not in answer, answer
                return answer['result']

    def value(self, expression):
        result = self.call('Runtime.evaluate', expression=expression, returnByValue=True)
        assert 'exceptionDetails' not in result, result
        return result['result'].get('value')

    def open(self, url, width=1240, height=800):
        self.call('Page.enable')
        self.call('Emulation.setDeviceMetricsOverride', width=width, height=height,
                  deviceScaleFactor=1, mobile=False)
        self.call('Page.navigate', url=url)

    def open_file(self, path):
        self.open('file://' + path)
        while self.value('document.readyState') != 'complete' or \
                self.value('location.protocol') != 'file:':
            pass

    def keep_picture(self, path):
        data = self.call('Page.captureScreenshot')['data']
        with open(path, 'wb') as out:
            out.write(base64.b64decode(data))

    def click(self, x, y):
        for kind in ('mousePressed', 'mouseReleased'):
            self.call('Input.dispatchMouseEvent', type=kind, x=x, y=y, button='left', clickCount=1)

    def close(self):
        try:
            self._session = None
            self.call('Browser.close')
        finally:
            os.close(self._to)
            self._answers.close()
            self._process.wait(timeout=PATIENCE_S)
