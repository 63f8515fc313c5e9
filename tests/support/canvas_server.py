"""A stand-in for Canvas on this machine: as much of its API as the commands use."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

COURSE, LAB, TOKEN = 7, 4711, "a-token"


class CanvasStandIn:
    """What Canvas knows: users, submissions with files, points, comments."""

    def __init__(self) -> None:
        self.url = ""
        self.users: list[dict[str, Any]] = []
        self.submissions: dict[int, dict[str, Any]] = {}
        self.files: dict[int, bytes] = {}
        self.comments: dict[int, list[int]] = {}
        self.requests: list[str] = []

    def hand_in(self, user: int, name: str, data: bytes, when: str, late: bool) -> None:
        number = 900 + len(self.files)
        self.files[number] = data
        self.submissions[user] = {
            **{"id": user, "user_id": user, "assignment_id": LAB, "course_id": COURSE},
            **{"submitted_at": when, "late": late, "score": None},
            "attachments": [
                {"id": number, "filename": name, "size": len(data), "url": f"{self.url}/f/{number}"}
            ],
        }

    def get(self, path: str, query: dict[str, list[str]]) -> Any:
        course = f"/api/v1/courses/{COURSE}"
        lab = f"{course}/assignments/{LAB}"
        if path == course:
            return {"id": COURSE, "name": "HML"}
        if path == lab:
            return {"id": LAB, "course_id": COURSE, "name": "Lab 0"}
        if path == f"{course}/search_users":
            return self.users
        if path == f"{lab}/submissions":
            return list(self.submissions.values())
        if found := re.fullmatch(rf"{lab}/submissions/(\d+)", path):
            return self.submissions.get(int(found[1]))
        return None

    def post(self, path: str, form: dict[str, list[str]]) -> Any:
        lab = f"/api/v1/courses/{COURSE}/assignments/{LAB}/submissions"
        if path == f"{lab}/update_grades":
            for key, value in form.items():
                user = re.fullmatch(r"grade_data\[(\d+)\]\[posted_grade\]", key)
                assert user
                self.submissions[int(user[1])]["score"] = float(value[0])
            return {"id": 1, "workflow_state": "queued"}
        if re.fullmatch(rf"{lab}/\d+/comments/files", path):
            return {"upload_url": f"{self.url}/upload", "upload_params": {"key": "1"}}
        if path == "/upload":
            number = 5000 + len(self.files)
            self.files[number] = b"uploaded"
            return {"id": number, "url": f"{self.url}/f/{number}"}
        return None

    def put(self, path: str, form: dict[str, list[str]]) -> Any:
        user = int(path.rpartition("/")[2])
        files = [int(value[0]) for key, value in form.items() if "file_ids" in key]
        self.comments.setdefault(user, []).extend(files)
        return self.submissions[user]


@contextmanager
def canvas_server() -> Iterator[CanvasStandIn]:
    """Serve it as long as the block runs; lists come two at a time."""
    canvas = CanvasStandIn()

    class Handler(BaseHTTPRequestHandler):
        def _answer(self, content: Any) -> None:
            parts = urlsplit(self.path)
            data, link = b"", ""
            if isinstance(content, list):
                page = int(parse_qs(parts.query).get("page", ["1"])[0])
                if content[2 * page :]:
                    link = f'<{canvas.url}{parts.path}?page={page + 1}>; rel="next"'
                content = content[2 * page - 2 : 2 * page]
            data = content if isinstance(content, bytes) else json.dumps(content).encode()
            self.send_response(404 if content is None else 200)
            self.send_header("Content-Length", str(len(data)))
            if link:
                self.send_header("Link", link)
            self.end_headers()
            self.wfile.write(data)

        def _allowed(self) -> bool:
            canvas.requests.append(f"{self.command} {urlsplit(self.path).path}")
            if self.headers.get("Authorization") == f"Bearer {TOKEN}" or "/upload" in self.path:
                return True
            self.send_response(401)
            self.send_header("Content-Length", "2")
            self.send_header("WWW-Authenticate", "Bearer")
            self.end_headers()
            self.wfile.write(b"{}")
            return False

        def _form(self) -> dict[str, list[str]]:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if "multipart" in self.headers.get("Content-Type", ""):
                pattern = rb'name="([^"]+)"\r\n\r\n(.*?)\r\n--'
                found = re.findall(pattern, body, re.DOTALL)
                return {name.decode(): [value.decode("latin-1")] for name, value in found}
            return parse_qs(body.decode())

        def do_GET(self) -> None:
            if self._allowed():
                parts = urlsplit(self.path)
                if found := re.fullmatch(r"/f/(\d+)", parts.path):
                    self._answer(canvas.files[int(found[1])])
                else:
                    self._answer(canvas.get(parts.path, parse_qs(parts.query)))

        def do_POST(self) -> None:
            if self._allowed():
                self._answer(canvas.post(urlsplit(self.path).path, self._form()))

        def do_PUT(self) -> None:
            if self._allowed():
                self._answer(canvas.put(urlsplit(self.path).path, self._form()))

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    canvas.url = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield canvas
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
