#!/usr/bin/env python3
"""HTTPS: `--tls-cert`, `--tls-key` and `--server https://…`, with certificates made here by the openssl command.

usage: tls.py
"""
import base64
import http.client
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time
import unittest
import warnings
from pathlib import Path

from serving import PATIENCE, PROGRAM, Folder, Server, floats, wait_until
from startup import refused

FINE = """
application: fine
slo: {latency: 60s}
functions: {fine: {runtime: emulated, memory: 10MB, profile: {table: [[1, 1, 0, 1.0, 0.1]]}}}
workflow: {fine: {}}
"""


def openssl(*arguments):
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)


class Authority:
    """Signs certificates, in a folder."""

    def __init__(self, folder, name="test"):
        self.folder, self.name = Path(folder), name
        self.certificate = self.folder / f"{name}-ca.pem"
        self.key = self.folder / f"{name}-ca.key"
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                "-subj", f"/CN={name} authority", "-keyout", str(self.key), "-out", str(self.certificate))

    def sign(self, name, names="DNS:localhost,IP:127.0.0.1", days=2):
        """(certificate, key) for a server; days below zero: it has expired."""
        key, request, out = (self.folder / f"{name}.{end}" for end in ("key", "csr", "pem"))
        extensions = self.folder / f"{name}.ext"
        extensions.write_text(f"subjectAltName={names}\n")
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={name}",
                "-keyout", str(key), "-out", str(request))
        openssl("x509", "-req", "-in", str(request), "-CA", str(self.certificate), "-CAkey", str(self.key),
                "-CAcreateserial", "-days", str(days), "-extfile", str(extensions), "-out", str(out))
        return out, key


class Tls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.outer = Folder()
        cls.addClassCleanup(cls.outer.__exit__)
        cls.keys = Path(cls.outer.__enter__())
        cls.authority = Authority(cls.keys)

    def setUp(self):
        folder = Folder()
        self.addCleanup(folder.__exit__)
        self.folder = Path(folder.__enter__())
        self.certificate, self.key = self.folder / "server.pem", self.folder / "server.key"

    def install(self, pair):
        """As renewals do it: each file is replaced whole."""
        for source, target in zip(pair, (self.certificate, self.key)):
            shutil.copy(source, f"{target}.new")
            os.replace(f"{target}.new", target)

    def server(self, *options):
        server = Server(self.folder / "data", "--tls-cert", str(self.certificate), "--tls-key", str(self.key), *options)
        self.addCleanup(server.kill)
        return server

    def context(self):
        return ssl.create_default_context(cafile=str(self.authority.certificate))

    def call(self, server, method="GET", path="/v2/health/live", body=None):
        connection = http.client.HTTPSConnection(*server.host_and_port, timeout=PATIENCE, context=self.context())
        try:
            connection.request(method, path, body=json.dumps(body) if body else None, headers={"X-API-Key": server.key})
            reply = connection.getresponse()
            return reply.status, reply.read()
        finally:
            connection.close()

    def serial(self, server):
        """Of the certificate that a new connection is shown."""
        with socket.create_connection(server.host_and_port, timeout=PATIENCE) as plain, \
                self.context().wrap_socket(plain, server_hostname="localhost") as secure:
            return secure.getpeercert()["serialNumber"]

    def sluice(self, server, *options, host="127.0.0.1", ca=None, environment=None):
        port = server.address.rsplit(":", 1)[1]
        return subprocess.run([PROGRAM, "status", "--server", f"https://{host}:{port}", *(("--ca", str(ca)) if ca else ()),
                               *options], capture_output=True, text=True, timeout=PATIENCE, check=False,
                              env={**os.environ, "SLUICE_KEY": server.key, **(environment or {})})

    def test_serves_and_is_found_by_the_commands(self):
        self.install(self.authority.sign("plain"))
        server = self.server()
        self.assertEqual(self.call(server)[0], 200)
        for host in ("127.0.0.1", "localhost"):
            told = self.sluice(server, host=host, ca=self.authority.certificate)
            self.assertEqual((told.returncode, told.stderr), (0, ""), told)
        told = self.sluice(server, environment={"SLUICE_CA": str(self.authority.certificate)})
        self.assertEqual(told.returncode, 0, told)

    def test_bodies_of_every_size_and_many_requests_on_a_connection(self):
        self.install(self.authority.sign("bodies"))
        server = self.server()
        document = {"main": "app.yaml", "files": [{"path": "app.yaml", "base64": base64.b64encode(
            FINE.encode()).decode()}]}
        self.assertEqual(self.call(server, "POST", "/v1/applications", document)[0], 200)
        connection = http.client.HTTPSConnection(*server.host_and_port, timeout=PATIENCE, context=self.context())
        for size in (1, 1000, 100_000, 1_000_000, 1):
            body = json.dumps(floats(*range(size)))
            connection.request("POST", "/v2/models/fine/infer", body=body, headers={"X-API-Key": server.key})
            reply = connection.getresponse()
            answer = reply.read()
            self.assertEqual(reply.status, 200, answer[:300])
        connection.close()

    def test_a_long_answer_to_a_slow_reader(self):
        """More than the socket takes at once: the rest follows when there is room, and nothing is lost or doubled."""
        self.install(self.authority.sign("long"))
        server = self.server()
        values = 300_000
        long = FINE.replace("memory: 10MB,", f"memory: 10MB, outputs: {{y: {{type: FP32, shape: [{values}]}}}},")
        document = {"main": "app.yaml", "files": [{"path": "app.yaml", "base64": base64.b64encode(long.encode()).decode()}]}
        self.assertEqual(self.call(server, "POST", "/v1/applications", document)[0], 200)
        body = json.dumps(floats(1)).encode()
        with socket.socket() as plain:
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            plain.settimeout(PATIENCE)
            plain.connect(server.host_and_port)
            with self.context().wrap_socket(plain, server_hostname="localhost") as secure:
                secure.sendall(b"POST /v2/models/fine/infer HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-API-Key: "
                               + server.key.encode() + b"\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
                time.sleep(1)  # the server has filled what there is room for
                answer = b""
                while part := secure.recv(16384):
                    answer += part
        head, _, content = answer.partition(b"\r\n\r\n")
        self.assertTrue(head.startswith(b"HTTP/1.1 200 "), head)
        self.assertEqual(len(json.loads(content)["outputs"][0]["data"]), values)

    def test_versions_and_protocols(self):
        self.install(self.authority.sign("versions"))
        server = self.server()
        old = self.context()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # that is the point
            old.minimum_version = ssl.TLSVersion.TLSv1
            old.maximum_version = ssl.TLSVersion.TLSv1_1
        old.set_ciphers("ALL:@SECLEVEL=0")
        for wrong, offered in ((old, None), (self.context(), ["h2"])):
            if offered:
                wrong.set_alpn_protocols(offered)
            with socket.create_connection(server.host_and_port, timeout=PATIENCE) as plain:
                with self.assertRaises((ssl.SSLError, ConnectionError)):
                    wrong.wrap_socket(plain, server_hostname="localhost")
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            context = self.context()
            context.minimum_version = context.maximum_version = version
            context.set_alpn_protocols(["h2", "http/1.1"])
            with socket.create_connection(server.host_and_port, timeout=PATIENCE) as plain, \
                    context.wrap_socket(plain, server_hostname="localhost") as secure:
                self.assertEqual(secure.selected_alpn_protocol(), "http/1.1")

    def test_what_clients_say_of_certificates(self):
        self.install(self.authority.sign("named", names="DNS:other.example"))
        server = self.server()
        told = self.sluice(server, ca=self.authority.certificate)
        self.assertEqual(told.returncode, 1)
        self.assertIn("is not for '127.0.0.1': write the name in --server", told.stderr)
        told = self.sluice(server, host="localhost", ca=self.authority.certificate)
        self.assertIn("is not for 'localhost'", told.stderr)
        told = self.sluice(server)
        self.assertIn("is signed by nobody that is trusted here: name who signed it with --ca FILE", told.stderr)
        told = self.sluice(server, ca=self.folder / "nowhere.pem")
        self.assertIn("nowhere.pem' cannot be used", told.stderr)

    def test_an_expired_certificate(self):
        self.install(self.authority.sign("expired", days=-1))
        server = self.server()
        wait_until("it warns", lambda: any("has expired: clients will refuse it" in line for line in server.lines), patience=10)
        told = self.sluice(server, ca=self.authority.certificate)
        self.assertEqual(told.returncode, 1)
        self.assertIn("has expired: the server needs a new one", told.stderr)

    def test_tls_to_a_plain_server(self):
        with Folder() as data, Server(data) as plain:
            told = self.sluice(plain, ca=self.authority.certificate)
            self.assertEqual(told.returncode, 1)
            self.assertIn(f"does it speak TLS? Without, write --server {plain.address}", told.stderr)

    def test_plain_http_to_the_tls_port(self):
        self.install(self.authority.sign("mistaken"))
        server = self.server()
        for sent in (b"GET /v2/health/live HTTP/1.1\r\nHost: x\r\n\r\n", b"DELETE /v1/applications/x HTTP/1.1\r\n\r\n"):
            with server.connect(timeout=10) as connection:
                connection.sendall(sent)
                answer = b""
                while part := connection.recv(65536):
                    answer += part
            self.assertTrue(answer.startswith(b"HTTP/1.1 400 "), answer)
            self.assertIn(b"this port speaks HTTPS", answer)
        told = subprocess.run([PROGRAM, "status", "--server", server.address], capture_output=True, text=True,
                              timeout=PATIENCE, check=False)
        self.assertEqual(told.returncode, 1)
        self.assertIn("this port speaks HTTPS", told.stderr)
        for rubbish in (b"\x16\x03\x01\x00\x05hello", b"\x00" * 100, b"\x16"):
            with server.connect(timeout=20) as connection:
                connection.sendall(rubbish)
                connection.shutdown(socket.SHUT_WR)
                try:
                    while connection.recv(65536):
                        pass
                except ConnectionError:
                    pass
        self.assertEqual(self.call(server)[0], 200)

    def test_slow_handshakes_hold_up_nobody_and_end(self):
        """Clients that say nothing, and clients that stop in the middle of their first message."""
        self.install(self.authority.sign("slow"))
        server = self.server()
        hello = self.client_hello()
        slow = []
        for i in range(200):
            slow.append(server.connect(timeout=30))
            if i % 2:
                slow[-1].sendall(hello[:len(hello) // 2])
        began = time.monotonic()
        for _ in range(20):
            self.assertEqual(self.call(server)[0], 200)
        self.assertLess(time.monotonic() - began, 8)
        for connection in slow:  # their time is over ten seconds after they came
            try:
                self.assertEqual(connection.recv(1), b"")
            except ConnectionError:
                pass
            connection.close()

    def client_hello(self):
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        client = self.context().wrap_bio(incoming, outgoing, server_hostname="localhost")
        try:
            client.do_handshake()
        except ssl.SSLWantReadError:
            pass
        return outgoing.read()

    def test_a_renewed_certificate_is_used_without_a_restart(self):
        self.install(self.authority.sign("first"))
        log = self.folder / "log"
        server = self.server("--log-file", str(log))
        first = self.serial(server)
        before = http.client.HTTPSConnection(*server.host_and_port, timeout=PATIENCE, context=self.context())
        before.request("GET", "/v2/health/live")
        before.getresponse().read()
        self.install(self.authority.sign("second"))
        wait_until("the new one is shown", lambda: self.serial(server) != first, patience=15)
        self.assertIn("is read again", log.read_text())
        before.request("GET", "/v2/health/live")  # connections that are open stay
        self.assertEqual(before.getresponse().status, 200)
        before.close()
        second = self.serial(server)
        self.install(self.authority.sign("third"))
        server.signal(signal.SIGHUP)
        wait_until("the third one is shown", lambda: self.serial(server) != second, patience=15)

    def test_a_broken_renewal_is_refused_and_the_old_one_stays(self):
        self.install(self.authority.sign("good"))
        server = self.server()
        first = self.serial(server)
        for broken, why in ((b"this is no certificate", "nothing in PEM form"), (b"", "nothing in PEM form"),
                            (self.authority.sign("stranger")[0].read_bytes(), "is not that of the certificate")):
            with self.subTest(why=why):
                said = len(server.lines)
                self.certificate.write_bytes(broken)
                server.signal(signal.SIGHUP)
                line = wait_until("it is refused", lambda: next((line for line in server.lines[said:] if why in line), None),
                                  patience=10)
                self.assertIn("the certificate that was read before stays in use", line)
                self.assertEqual(self.serial(server), first)
        self.install(self.authority.sign("mended"))
        wait_until("the mended one is shown", lambda: self.serial(server) != first, patience=15)

    def test_what_cannot_be_used_is_said_at_the_start(self):
        data = ("--data", str(self.folder / "data"), "--listen", "127.0.0.1:0")
        certificate, key = self.authority.sign("start")
        self.assertIn("needs both files", refused(*data, "--tls-cert", str(certificate)))
        self.assertIn("No such file", refused(*data, "--tls-cert", "/nowhere.pem", "--tls-key", str(key)))
        self.assertIn("No such file", refused(*data, "--tls-cert", str(certificate), "--tls-key", "/nowhere.pem"))
        self.assertIn("is not that of the certificate",
                      refused(*data, "--tls-cert", str(certificate), "--tls-key", str(self.authority.key)))
        locked = self.folder / "locked.key"
        openssl("ec", "-in", str(key), "-aes128", "-passout", "pass:secret", "-out", str(locked))
        self.assertIn("locked.key' cannot be used", refused(*data, "--tls-cert", str(certificate), "--tls-key", str(locked)))


if __name__ == "__main__":
    if shutil.which("openssl") is None:
        print("skipped: there is no openssl command to make certificates with")
        sys.exit(77)
    unittest.main()
