"""One file of a package index, by its name: no build, no metadata, nothing of the package is run.

`pip download` makes an sdist's metadata, which runs its `setup.py`. Where pip looks (its own default, `index-url`,
`extra-index-url`, `find-links`, its certificates) is asked of pip's configuration; the index is read by its simple API.
"""

from __future__ import annotations

import html
import os
import re
import ssl
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

#: Seconds for one answer of an index.
_TIMEOUT = 120


def find(package: str, file: str) -> bytes:
    """The bytes of a package's file. Raises LookupError where no index has it or can be asked, with what each said."""
    settings = _settings()
    said = []
    for links in settings.get("find-links", "").split():
        path = Path(links.removeprefix("file://")) / file
        if path.is_file():
            return path.read_bytes()
    indexes = [settings.get("index-url") or _default(), *settings.get("extra-index-url", "").split()]
    name = re.sub(r"[-_.]+", "-", package).lower()
    for index in filter(None, indexes):
        page = f"{index.rstrip('/')}/{name}/"
        try:
            if index.startswith("file:"):
                local = Path(urllib.request.url2pathname(urllib.parse.urlparse(page).path)) / "index.html"
                text = local.read_text("utf-8", "replace")
            else:
                text = _get(page, settings).decode("utf-8", "replace")
            for href in re.findall(r'href="([^"]+)"', text):
                link = urllib.parse.urljoin(page, html.unescape(href)).split("#")[0]
                if urllib.parse.unquote(link.rsplit("/", 1)[-1]) == file:
                    return _get(link, settings)
            said.append("an index has no such file")
        except (OSError, ValueError) as error:
            said.append(str(error)[:120])
    raise LookupError("; ".join(said) or "pip knows no index")


def _get(url: str, settings: dict[str, str]) -> bytes:
    request = urllib.request.Request(url, headers={"Accept": "text/html", "User-Agent": "probe-instrument corpus"})
    certificates = settings.get("cert")
    context = ssl.create_default_context(cafile=certificates if certificates and os.path.exists(certificates) else None)
    given = {} if url.startswith("file:") else {"context": context}
    with urllib.request.urlopen(request, timeout=_TIMEOUT, **given) as answer:  # type: ignore[arg-type]
        data: bytes = answer.read()
        return data


def _settings() -> dict[str, str]:
    """pip's settings by their last name; the environment's win."""
    command = [sys.executable, "-m", "pip", "config", "list", "--disable-pip-version-check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found: dict[str, str] = {}
    lines = sorted(done.stdout.splitlines(), key=lambda line: line.startswith(":env:"))
    for line in lines:
        key, _, value = line.partition("=")
        found[key.rpartition(".")[2]] = value.strip().strip("'\"")
    return found


def _default() -> str:
    """pip's own default, as pip has it."""
    code = "from pip._internal.models.index import PyPI; print(PyPI.simple_url)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    return done.stdout.strip()
