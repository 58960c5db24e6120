"""The server's manners on the wire: limits, pipelining, slow and vanishing clients, damaged bodies, ending.

usage: wire_test.py [unittest arguments]; MORTISE_SEED replays the random part
"""
import concurrent.futures
import json
import os
import random
import socket
import time
import unittest

from serving import CHAT, SMOLLM2, TINY, Server, raw_chat, read_answer

SHORT = {'messages': [{'role': 'user', 'content': 'Say hi.'}], 'max_tokens': 2, 'temperature': 0}
ENDLESS = {**SHORT, 'max_tokens': 4000, 'ignore_eos': True, 'stream': True}
SEED = int(os.environ.get('MORTISE_SEED', random.SystemRandom().randrange(1 << 32)))
MUTATIONS = 100
CONNECTIONS = 200
ABORTS = 20


def begin_stream(server, request, events=3):
    """A connection whose streamed answer is under way, and its file."""
    connection = server.connect()
    connection.sendall(raw_chat(request))
    stream = connection.makefile('rb')
    while events:
        line = stream.readline()
        assert line, 'the stream ended'
        events -= line.startswith(b'data: ')
    return connection, stream


class Wire(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server(TINY, 'plugin.http.header_timeout=500', 'plugin.http.idle_timeout="1 s"')

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def exchange(self, data):
        with self.server.connect() as connection:
            connection.sendall(data)
            return read_answer(connection.makefile('rb'))

    def assert_refused(self, data, status):
        got, body = self.exchange(data)
        self.assertEqual(got, status, (data[:80], body))
        self.assertIsInstance(json.loads(body)['error']['message'], str)

    def test_routes(self):
        self.assertEqual(self.server.ask('GET', '/health')[::2], (200, b'{"status":"ok"}'))
        self.assertEqual(self.server.ask('HEAD', '/health')[::2], (200, b''))
        status, headers, body = self.server.ask('OPTIONS', CHAT)
        self.assertEqual((status, headers['allow'], body), (204, 'POST, OPTIONS', b''))
        self.assertEqual(self.server.ask('GET', '/v1/models?limit=1')[0], 200)
        for method, path, wanted in (('GET', '/', 404), ('POST', '/v1/nothing', 404), ('GET', CHAT, 405),
                                     ('DELETE', '/v1/models', 405), ('BREW', '/health', 405)):
            status, headers, body = self.server.ask(method, path)
            self.assertEqual(status, wanted, path)
            self.assertEqual(headers['content-type'], 'application/json')
            self.assertTrue(headers['x-request-id'] and json.loads(body)['error'])
            self.assertEqual('allow' in headers, wanted == 405)

    def test_only_this_machine_is_meant(self):
        for host in ('127.0.0.1', 'localhost:1', 'LOCALHOST', '[::1]:8080'):
            self.assertEqual(self.server.ask('GET', '/health', headers={'Host': host})[0], 200, host)
        for host in ('evil.example', '127.0.0.1.evil.example', 'localhost.evil.example:8080', '', '[::2]', '10.0.0.1'):
            self.assertEqual(self.server.ask('GET', '/health', headers={'Host': host})[0], 403, host)
        self.assert_refused(b'GET /health HTTP/1.1\r\n\r\n', 400)
        self.assert_refused(b'GET /health HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n', 400)
        for origin, status in (('http://localhost:3000', 200), ('https://evil.example', 403), ('null', 403)):
            self.assertEqual(self.server.ask('GET', '/health', headers={'Origin': origin})[0], status, origin)

    def test_limits(self):
        self.assert_refused(raw_chat(SHORT, f'X-Long: {"x" * 17000}\r\n'), 431)
        self.assert_refused(raw_chat(b' ' * (1 << 20) + b'{}'), 413)
        self.assert_refused(b'NOT HTTP AT ALL\r\n\r\n', 400)
        self.assert_refused(raw_chat(SHORT, 'Transfer-Encoding: chunked\r\n'), 400)
        self.assertEqual(self.exchange(raw_chat(SHORT))[0], 200)

    def test_slow_header_and_idle_connections_are_closed(self):
        for start in (b'GET /health HT', b''):
            with self.server.connect(timeout_s=20) as connection:
                connection.sendall(start)
                self.assertEqual(connection.recv(1), b'')

    def test_a_body_in_small_pieces_is_a_body(self):
        data = raw_chat(SHORT)
        with self.server.connect() as connection:
            for i in range(0, len(data), 16):
                connection.sendall(data[i:i + 16])
            self.assertEqual(read_answer(connection.makefile('rb'))[0], 200)

    def test_continue_is_said(self):
        data = raw_chat(SHORT, 'Expect: 100-continue\r\n')
        head, body = data.split(b'\r\n\r\n', 1)
        with self.server.connect() as connection:
            connection.sendall(head + b'\r\n\r\n')
            stream = connection.makefile('rb')
            self.assertEqual(stream.readline() + stream.readline(), b'HTTP/1.1 100 Continue\r\n\r\n')
            connection.sendall(body)
            self.assertEqual(read_answer(stream)[0], 200)

    def test_pipelined_requests_are_answered_in_order(self):
        wanted = [200, 404, 200, 400]
        data = (raw_chat(SHORT) + raw_chat({**SHORT, 'model': 'other'}) +
                b'GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n' + raw_chat(b'{'))
        with self.server.connect() as connection:
            connection.sendall(data)
            stream = connection.makefile('rb')
            self.assertEqual([read_answer(stream)[0] for _ in wanted], wanted)

    def test_http_1_0(self):
        status, body = self.exchange(raw_chat(SHORT).replace(b'HTTP/1.1', b'HTTP/1.0'))
        self.assertEqual((status, json.loads(body)['object']), (200, 'chat.completion'))
        with self.server.connect() as connection:
            connection.sendall(raw_chat({**SHORT, 'stream': True}).replace(b'HTTP/1.1', b'HTTP/1.0'))
            self.assertTrue(connection.makefile('rb').read().endswith(b'data: [DONE]\n\n'))

    def test_bytes_that_are_no_text(self):
        for content in (b'\xc4\xe3\xba\xc3', b'\xc0\x80', b'\xed\xa0\x80', b'\xf4\x90\x80\x80'):
            self.assert_refused(raw_chat(b'{"messages":[{"role":"user","content":"' + content + b'"}]}'), 400)
        deep = b'{"messages":' + b'[' * 100000 + b']' * 100000 + b'}'
        for body in (b'', b'{', b'[]', b'null', b'{"messages":[]}', b'{} {}', deep):
            self.assert_refused(raw_chat(body), 400)

    def test_damaged_bodies(self):
        print(f'MORTISE_SEED={SEED}')
        rng = random.Random(SEED)
        good = json.dumps({**SHORT, 'stop': ['a', 'b'], 'logit_bias': {'5': 1.5}, 'top_p': 0.5, 'stream': False,
                           'logprobs': True, 'top_logprobs': 2, 'seed': 3, 'n': 1}).encode()
        with self.server.connect() as connection:
            stream = connection.makefile('rb')
            for _ in range(MUTATIONS):
                body = bytearray(good)
                for _ in range(rng.randint(1, 4)):
                    at = rng.randrange(len(body))
                    if rng.random() < 0.3:
                        del body[at:at + rng.randint(1, 8)]
                    else:
                        body[at] = rng.choice((rng.randrange(256), ord(rng.choice('{}[]",:0-9eE.'))))
                # However the damage falls, the answer is short.
                connection.sendall(raw_chat(bytes(body)))
                status, answer = read_answer(stream)
                self.assertIn(status, (200, 400, 404), bytes(body))
                json.loads(answer)

    def test_many_connections(self):
        with concurrent.futures.ThreadPoolExecutor(CONNECTIONS) as pool:
            statuses = list(pool.map(lambda _: self.exchange(raw_chat(SHORT))[0], range(CONNECTIONS)))
        self.assertEqual(statuses.count(200), CONNECTIONS)


class Clients(unittest.TestCase):
    """Of a server that answers one request at a time."""

    @classmethod
    def setUpClass(cls):
        cls.server = Server(SMOLLM2, 'engine.max_sequences=1', 'engine.queue=2')

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def test_a_client_that_leaves_frees_its_place(self):
        for request in [ENDLESS] * ABORTS + [{**ENDLESS, 'stream': False}]:
            if request['stream']:
                connection, stream = begin_stream(self.server, request)
                stream.close()
            else:
                connection = self.server.connect()
                connection.sendall(raw_chat(request))
            connection.close()
            # 4000 tokens would take far longer than a socket waits here.
            status, _, _ = self.server.ask('POST', CHAT, json.dumps({**SHORT, 'max_tokens': 1}), timeout_s=15)
            self.assertEqual(status, 200)

    def test_a_full_queue_is_told(self):
        running, stream = begin_stream(self.server, ENDLESS)
        waiting = [self.server.connect() for _ in range(8)]
        for connection in waiting:
            connection.sendall(raw_chat(SHORT))
        waiting[-1].settimeout(20)
        head = waiting[-1].recv(4096)
        self.assertTrue(head.startswith(b'HTTP/1.1 429 '), head)
        self.assertIn(b'retry-after: 1', head)
        for connection in (stream, running, *waiting):
            connection.close()
        self.wait_until_free()

    def wait_until_free(self):
        """Those that left free their places soon, not at once."""
        deadline = time.monotonic() + 20
        while self.server.chat(max_tokens=1)[0] == 429:
            self.assertLess(time.monotonic(), deadline)

    def test_a_slow_reader_gets_all(self):
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(60)
        connection.connect(('127.0.0.1', self.server.port))
        connection.sendall(raw_chat({**SHORT, 'max_tokens': 40, 'ignore_eos': True, 'stream': True, 'logprobs': True,
                                     'top_logprobs': 20}, 'Connection: close\r\n'))
        data = b''
        while piece := connection.recv(700):
            data += piece
        connection.close()
        self.assertEqual(data.count(b'"finish_reason":"length"'), 1)
        self.assertTrue(data.endswith(b'data: [DONE]\n\n\r\n0\r\n\r\n'))


class Ending(unittest.TestCase):
    def test_drain_finishes_what_was_accepted(self):
        with Server(SMOLLM2) as server:
            idle = server.connect()
            # Few tokens: a sanitized build must be done with them within the host's deadline, too.
            running, stream = begin_stream(server, {**ENDLESS, 'max_tokens': 20})
            server.terminate()
            running.settimeout(15)  # the end comes with the answer, not with the host's deadline of 30 s
            self.assertEqual(idle.recv(1), b'')
            self.assertTrue(stream.read().endswith(b'data: [DONE]\n\n\r\n0\r\n\r\n'))
            self.assertEqual(server.process.wait(20), 0)
            with self.assertRaises(OSError):
                server.connect()
            for connection in (stream, running, idle):
                connection.close()

    def test_a_second_signal_ends_at_once(self):
        with Server(SMOLLM2) as server:
            running, stream = begin_stream(server, ENDLESS)
            server.terminate()
            with self.assertRaises(OSError):
                while True:
                    server.connect().close()
            server.terminate()
            server.process.wait(20)
            stream.close()
            running.close()

    def test_foreign_addresses_are_refused(self):
        for listen in ('0.0.0.0:0', '[::]:0', '192.0.2.1:80', 'example.org:80', '127.0.0.1', '127.0.0.1:99999', ':0'):
            with self.assertRaisesRegex(AssertionError, 'plugin.http.listen', msg=listen):
                Server(TINY, f'plugin.http.listen={listen}')

    def test_a_port_in_use_is_told(self):
        with Server(TINY) as server, self.assertRaisesRegex(AssertionError, 'in use'):
            Server(TINY, f'plugin.http.listen=127.0.0.1:{server.port}')


if __name__ == '__main__':
    unittest.main()
