"""A server under test: `mortise run serve` on port zero, and what the tests ask it with.

Used by the tests beside it. Environment: MORTISE_BIN, MORTISE_SOURCE, perhaps MORTISE_MODELS.
"""
import http.client
import json
import os
import pathlib
import re
import signal
import socket
import subprocess

SOURCE = pathlib.Path(os.environ['MORTISE_SOURCE'])
MODELS = pathlib.Path(os.environ.get('MORTISE_MODELS', SOURCE / 'models'))
SMOLLM2 = MODELS / 'SmolLM2-135M-Instruct.Q4_1.gguf'
TINY = SOURCE / 'tests/data/fixtures/gguf/llama-q8_0.gguf'
CHAT = '/v1/chat/completions'
WAIT_S = 60  # no answer within it fails a test; none is expected to take that long


class Server:
    def __init__(self, model, *settings):
        command = [os.environ['MORTISE_BIN'], 'run', 'serve', '-m', str(model)]
        for setting in ('plugin.http.listen=127.0.0.1:0', *settings):
            command += ['--set', setting]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        found = re.fullmatch(r'listening on http://127\.0\.0\.1:(\d+)\n', line)
        if not found:
            raise AssertionError(f'no address but {line!r}; {self.process.communicate()[1]}')
        self.port = int(found.group(1))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def terminate(self):
        self.process.send_signal(signal.SIGTERM)

    def connect(self, timeout_s=WAIT_S):
        return socket.create_connection(('127.0.0.1', self.port), timeout=timeout_s)

    def ask(self, method, path, body=None, headers=None, timeout_s=WAIT_S):
        """One request on a connection of its own: (status, headers, body as bytes)."""
        connection = http.client.HTTPConnection('127.0.0.1', self.port, timeout=timeout_s)
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def chat(self, **fields):
        """(status, the answer's JSON); fields replace those of a short greedy question."""
        request = {'messages': [{'role': 'user', 'content': 'Say hi.'}], 'max_tokens': 4, 'temperature': 0}
        request.update(fields)
        status, headers, body = self.ask('POST', CHAT, json.dumps(request))
        assert headers['x-request-id'], 'every answer has x-request-id'
        return status, json.loads(body)

    def stream(self, **fields):
        """The events of a streamed answer, [DONE] left out but required."""
        request = {'messages': [{'role': 'user', 'content': 'Say hi.'}], 'max_tokens': 4, 'temperature': 0,
                   'stream': True}
        request.update(fields)
        status, headers, body = self.ask('POST', CHAT, json.dumps(request))
        assert status == 200 and headers['content-type'] == 'text/event-stream', (status, body)
        events = body.decode().split('\n\n')
        assert events[-2:] == ['data: [DONE]', ''], events[-2:]
        assert all(event.startswith('data: ') for event in events[:-1])
        return [json.loads(event[6:]) for event in events[:-2]]


def raw_chat(body, headers=''):
    """The bytes of a request."""
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    head = f'POST {CHAT} HTTP/1.1\r\nHost: localhost\r\n{headers}Content-Length: {len(body)}\r\n\r\n'
    return head.encode() + body


def read_answer(stream):
    """(status, body) of the next answer on a socket's file; (0, b'') where the connection has ended."""
    first = stream.readline()
    if not first:
        return 0, b''
    length = 0
    while (line := stream.readline()) not in (b'\r\n', b''):
        name, _, value = line.decode().partition(':')
        length = int(value) if name.lower() == 'content-length' else length
    return int(first.split()[1]), stream.read(length)


def joined(events):
    """The content of a streamed answer."""
    return ''.join(event['choices'][0]['delta'].get('content') or '' for event in events if event['choices'])
