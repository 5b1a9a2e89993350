"""Style sheets and scripts, as the server that Placet runs on gives them."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

SHEET = Path("static/css/base.css").read_bytes()
STREAMED = "StreamingHttpResponse must consume"


def test_a_file_is_served_whole_and_kept_by_the_browser(site: str, recwarn: pytest.WarningsRecorder) -> None:
    """Without the warning that an iterator has to be read first, which was one for every file of every page."""
    with httpx.Client(base_url=site) as client:
        told = client.get("/static/css/base.css")
        assert (told.status_code, told.content) == (200, SHEET) and told.headers["Content-Type"].startswith("text/css")
        kept = client.get("/static/css/base.css", headers={"If-Modified-Since": told.headers["Last-Modified"]})
        assert (kept.status_code, kept.content) == (304, b"")
        part = client.get("/static/css/base.css", headers={"Range": "bytes=3-9"})
        assert (part.status_code, part.content) == (206, SHEET[3:10])
        head = client.head("/static/css/base.css")
        assert (head.content, head.headers["Content-Length"]) == (b"", str(len(SHEET)))
        assert client.post("/static/css/base.css").status_code == 405
    assert not [one for one in recwarn if STREAMED in str(one.message)]
