#!/usr/bin/env python3
"""An upstream for the examples of the documents: responds with the head of the request as text.

Usage: echo.py [PORT], on 127.0.0.1; without a port 3000.
"""

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Echo(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def respond(self):
        self.read_body()
        fields = "".join(f"{name}: {value}\n" for name, value in self.headers.items())
        body = f"{self.command} {self.path}\n{fields}".encode()
        self.send_response(200)
        self.send_header("content-type", "text/plain")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = respond

    def read_body(self):
        if self.headers.get("transfer-encoding", "").lower() != "chunked":
            self.rfile.read(int(self.headers.get("content-length", 0)))
            return
        while size := int(self.rfile.readline().split(b";")[0], 16):
            self.rfile.read(size + 2)
        while self.rfile.readline().strip():
            pass

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 3000
    try:
        ThreadingHTTPServer(("127.0.0.1", port), Echo).serve_forever()
    except KeyboardInterrupt:
        pass
