"""The example notebook in a real JupyterLab in a browser, worked through by clicks."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sync = pytest.importorskip("playwright.sync_api")
pytest.importorskip("jupyterlab")
pytest.importorskip("wandb")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine"),
]
#: Screenshots are kept here for a person to look at (a CI artifact).
PICTURES = Path(os.environ.get("INSTRUMENT_ARTIFACTS", "artifacts")) / "jupyterlab"


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[str]:
    """The address of a JupyterLab whose folder holds the example."""
    example = Path(__file__).parents[1] / "examples" / "magic.ipynb"
    work = tmp_path / "work"
    work.mkdir()
    shutil.copy(example, work)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    env = {**os.environ, "PROBE_OUTBOX_DIR": str(tmp_path / "outbox"), "WANDB_DIR": str(tmp_path)}
    for name in (
        "IPYTHONDIR",
        "JUPYTER_CONFIG_DIR",
        "JUPYTER_DATA_DIR",
        "JUPYTER_RUNTIME_DIR",
        "JUPYTERLAB_SETTINGS_DIR",
    ):
        env[name] = str(tmp_path / name.lower())
    settings = Path(env["JUPYTERLAB_SETTINGS_DIR"]) / "@jupyterlab" / "notebook-extension"
    settings.mkdir(parents=True)
    # All cells in the page, so that they can be counted.
    (settings / "tracker.jupyterlab-settings").write_text('{"windowingMode": "none"}')
    arguments = [
        f"--ServerApp.port={port}", "--ServerApp.token=", "--ServerApp.password=", "--ServerApp.disable_check_xsrf=True",
        "--ServerApp.open_browser=False", f"--ServerApp.root_dir={work}", "--allow-root",
        "--LabApp.news_url=None", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    ]  # fmt: skip
    with (tmp_path / "server.log").open("wb") as log:
        server = subprocess.Popen([sys.executable, "-m", "jupyterlab", *arguments], env=env, stdout=log, stderr=log)
    try:
        address = f"http://127.0.0.1:{port}"
        for _ in range(240):
            try:
                urllib.request.urlopen(f"{address}/api/status", timeout=2).close()
                break
            except OSError:
                assert server.poll() is None, (tmp_path / "server.log").read_text()
                time.sleep(0.5)
        yield address
    finally:
        server.terminate()
        server.wait(20)


def test_a_persons_clicks_run_the_example(lab: str) -> None:
    PICTURES.mkdir(parents=True, exist_ok=True)
    with sync.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1250, "height": 1500})
        page.set_default_timeout(60_000)
        try:
            work_through(page, f"{lab}/lab/tree/magic.ipynb")
        except BaseException:
            page.screenshot(path=str(PICTURES / "failed.png"))
            raise
        finally:
            browser.close()


def work_through(page: Any, address: str) -> None:
    """Click through the example from top to bottom."""
    page.goto(address)
    cells = page.locator(".jp-Notebook .jp-CodeCell")
    cells.first.wait_for()
    page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]").wait_for()

    def run(number: int) -> Any:
        """Click into a code cell and on the toolbar's button; wait until it has run."""
        cell = cells.nth(number)
        prompt = cell.locator(".jp-InputPrompt").first
        before = prompt.inner_text()
        for _ in range(5):
            cell.locator(".cm-content").click()
            page.get_by_role("button", name="Run this cell and advance").first.click()
            for waited in range(300):
                if page.locator(".jp-Dialog").is_visible():  # asks for a kernel where none was chosen yet
                    page.locator(".jp-Dialog button", has_text="Select").last.click()
                if (now := prompt.inner_text()) != before and "*" not in now:
                    return cell
                if waited > 30 and now == before:
                    break  # the kernel was not connected yet when the button was clicked
                page.wait_for_timeout(200)
        raise AssertionError(f"code cell {number} did not run: {before} {prompt.inner_text()}")

    for number in (0, 1):
        run(number)
    opened = run(2)
    opened.locator(".probe-instrument .pi-add").first.wait_for()
    assert opened.locator(".cm-content").inner_text().startswith("import logging")
    assert "%%probe_instrument" not in opened.locator(".cm-content").inner_text()
    trained = run(3)
    trained.locator(".probe-instrument .pi-add").first.wait_for()
    text = trained.locator(".cm-content").inner_text()
    assert "probe.log(_metrics, step=epoch)" in text and not text.endswith("\n")
    page.screenshot(path=str(PICTURES / "light.png"))

    # The replaced cells run by themselves, again and again; nothing is left of the magic.
    run(2)
    run(3)
    assert cells.nth(3).locator(".jp-OutputArea-output[data-mime-type*=error]").count() == 0
    run(4)
    verified = run(5)
    verified.locator(".probe-instrument").wait_for()
    assert "equal" in verified.locator(".probe-instrument").inner_text()
    page.screenshot(path=str(PICTURES / "verified.png"))

    page.get_by_role("menuitem", name="Settings").click()
    page.locator(".lm-Menu-itemLabel", has_text="Theme").first.hover()
    page.locator(".lm-Menu-itemLabel", has_text="JupyterLab Dark").first.click()
    page.wait_for_function("() => document.body.dataset.jpThemeLight === 'false'")
    trained.scroll_into_view_if_needed()
    page.screenshot(path=str(PICTURES / "dark.png"))
