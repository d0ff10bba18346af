"""instrument/sdk.py against the SDK that is installed: each line of it is either seen to hold, or named here as broken."""

from __future__ import annotations

import importlib
import importlib.metadata
import inspect
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from instrument import sdk
from tests.module_lab import Lab

pytest.importorskip("probe.sdk", reason="install probe-research")

ROOT = Path(importlib.import_module("probe").__file__ or "").parent


def source(*names: str) -> str:
    return "\n".join((ROOT / name).read_text(encoding="utf-8") for name in names)


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> tuple[Lab, dict[str, Any]]:
    """An offline run with one of everything, by the SDK's own calls, and what the calls answered."""
    lab = Lab(tmp_path_factory.mktemp("contract"))
    done = lab.run(
        f"""
import json, inspect, warnings
warnings.simplefilter("ignore")
import probe
from probe.sdk.run import Run
from probe.sdk.disabled import DisabledRun
seen = {{}}
def raises(call):
    try:
        call()
    except Exception as error:
        return type(error).__name__
seen["log without a run"] = raises(lambda: probe.log({{"a": 1}}))
seen["none"] = probe.active_run() is None
probe.finish()
refused = {sorted(sdk.INIT_REFUSES)!r}
seen["refused"] = [name for name in refused if raises(lambda: probe.init(**{{name: "x"}}))]
seen["positional"] = raises(lambda: probe.init("name"))
keywords = dict(name="n", config={{"lr": 0.1}}, tags=["t"], notes="notes", description="d", project="p", experiment="e",
                question="q", mode="offline", reinit="default", intent="i", metadata={{"m": 1}}, group_id=None, external_id="x",
                on_conflict="error", capture_reads=False, capture_outputs=False, snapshot=False)
seen["missing"] = sorted(set({sorted(sdk.INIT_KEYWORDS)!r}) - set(keywords))
run = probe.init(**keywords)
seen["bound"] = probe.active_run() is run
seen["own finish"] = "finish" not in vars(run)
close = run.finish
closes = []
run.finish = lambda *a, **k: (closes.append(a), close(*a, **k))[1]
probe.log({{"a": 1.0, "text": "x", "n": {{"b": 2}}}}, step=3, wall_clock="2020-01-01T00:00:00+00:00", kind="model",
          commit=None, dimensions=None, labels=None)
run.log({{}}, step=99)
run.link(wandb_run_id="w1")
probe.update_config({{"more": 1}})
probe.finish("failed")
seen["finish asks the run"] = len(closes)
seen["after"] = probe.active_run() is None
probe.finish()
disabled = probe.init(mode="disabled")
disabled.log({{"a": 1}}, step=1, wall_clock="x")
seen["disabled link"] = hasattr(disabled, "link")
probe.finish()
print("SEEN" + json.dumps(seen))
"""
    )
    assert done.code == 0, done.err
    [line] = [line for line in done.out.splitlines() if line.startswith("SEEN")]
    return lab, json.loads(line[4:])


def operations(lab: Lab) -> tuple[Path, list[dict[str, Any]]]:
    [folder] = (lab.outbox / sdk.OFFLINE_FOLDER).iterdir()
    return folder, [json.loads(path.read_text()) for path in sorted((folder / sdk.OPS_FOLDER).glob("*.json"))]


# -- the package ----------------------------------------------------------------------------------------------------


def test_the_package_has_the_name_and_version_that_are_asked_for() -> None:
    from packaging.version import Version

    data = importlib.metadata.metadata(sdk.PACKAGE)
    assert Version(data["Version"]) >= Version(sdk.MINIMUM)
    assert data["Requires-Python"] == ">=" + ".".join(map(str, sdk.MINIMUM_PYTHON))
    assert sdk.REQUIREMENT.startswith(sdk.PACKAGE)
    assert set(importlib.metadata.packages_distributions()[sdk.IMPORT]) == {sdk.PACKAGE}


def test_importing_it_loads_no_network_code() -> None:
    code = "import sys, probe; print([name for name in ('httpx', 'requests', 'pydantic') if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"


# -- calls ----------------------------------------------------------------------------------------------------------


def test_the_calls_exist() -> None:
    probe = importlib.import_module(sdk.IMPORT)
    assert [name for name in sdk.CALLS if not callable(getattr(probe, name, None))] == []


def test_init_takes_keywords_only_and_those_that_are_passed(opened: tuple[Lab, dict[str, Any]]) -> None:
    seen = opened[1]
    assert seen["missing"] == [], "the script above passes each of INIT_KEYWORDS"
    assert seen["positional"] == "TypeError"
    assert seen["refused"] == sorted(sdk.INIT_REFUSES), "W&B's other keywords raise"


def test_a_joined_run_takes_a_config_alone() -> None:
    fluent = importlib.import_module("probe.sdk.fluent")
    text = inspect.getsource(fluent._attach_from_env)
    assert 'k != "config"' in text and "_IDENTITY_KWARGS" in text
    assert {"name", "project", "experiment"} <= set(fluent._IDENTITY_KWARGS)
    for name in sdk.INIT_JOINED - {"config"}:
        assert f'kw.pop("{name}", None)' in inspect.getsource(fluent.init)


def test_log_takes_these_keywords() -> None:
    run = importlib.import_module("probe.sdk.run")
    parameters = inspect.signature(run.Run.log).parameters
    assert {name for name, p in parameters.items() if p.kind is p.KEYWORD_ONLY} >= sdk.LOG_KEYWORDS
    disabled = importlib.import_module("probe.sdk.disabled").DisabledRun
    assert any(p.kind is p.VAR_KEYWORD for p in inspect.signature(disabled.log).parameters.values())


def test_without_a_run_log_raises_and_finish_does_not(opened: tuple[Lab, dict[str, Any]]) -> None:
    seen = opened[1]
    assert (seen["log without a run"], seen["none"], seen["bound"], seen["after"]) == ("RosError", True, True, True)


def test_whoever_closes_a_run_asks_the_run_itself(opened: tuple[Lab, dict[str, Any]]) -> None:
    """The module puts its own `finish` in front of the run's, so that rows which wait come before any close."""
    seen = opened[1]
    assert seen["own finish"] and seen["finish asks the run"] == 1
    fluent = importlib.import_module("probe.sdk.fluent")
    assert "run.finish(" in inspect.getsource(fluent._close_binding), "a second init"
    assert "finish(_exit_status)" in inspect.getsource(fluent._close_bound_at_exit), "the exit hook"
    assert "_finish_at_exit()" in inspect.getsource(fluent._close_for_preemption), "SIGTERM"
    run = importlib.import_module("probe.sdk.run")
    assert "self.finish(" in inspect.getsource(run.Run.__exit__), "with"


def test_the_exit_hook_is_one_of_atexit() -> None:
    """The module's own hook runs before: threading's run before those of atexit."""
    fluent = importlib.import_module("probe.sdk.fluent")
    assert "atexit.register(_finish_at_exit)" in inspect.getsource(fluent._install_exit_hooks)
    threading = importlib.import_module("threading")
    assert hasattr(threading, "_register_atexit") and "_threading_atexits" in inspect.getsource(threading._shutdown)


# -- environment ----------------------------------------------------------------------------------------------------


def test_each_variable_is_read_by_the_sdk() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in ROOT.rglob("*.py"))
    names = [*sdk.FORWARDED, *sdk.DEFAULTS, sdk.OUTBOX_DIR, sdk.INGEST_TOKEN, sdk.HMAC_SECRET]
    assert [name for name in names if not re.search(rf"[\"']{name}[\"']", text)] == []
    assert "PROBE_API_KEY" not in source("sdk/config.py")
    assert importlib.import_module("probe.sdk.config").RUN_TOKEN_PREFIX == sdk.RUN_TOKEN_PREFIX


def test_the_defaults_mean_what_they_are_set_for(monkeypatch: pytest.MonkeyPatch) -> None:
    config = importlib.import_module("probe.sdk.config")
    offline = importlib.import_module("probe.sdk.offline")
    assert config.init_timeout_seconds() == 90 and not offline.fallback_enabled()
    for name, value in sdk.DEFAULTS.items():
        monkeypatch.setenv(name, value)
    assert config.init_timeout_seconds() == 10 and offline.fallback_enabled()
    assert '"PROBE_AUTO_SNAPSHOT", "1") != "0"' in source("sdk/client.py")
    assert re.search(
        r'PROBE_AUTO_LOGIN.{0,40}"0"', source("sdk/client.py", "sdk/device.py", "sdk/config.py"), re.DOTALL
    )


# -- doors ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "door",
    [
        sdk.HF_CALLBACK,
        sdk.LIGHTNING_LOGGER,
        sdk.MILES_BACKEND,
        sdk.MILES_REGISTER,
        sdk.MILES_PER_SAMPLE,
        sdk.WANDB_IMPORT,
    ],
)
def test_a_door_is_where_it_is_said_to_be(door: str) -> None:
    module, name = door.rsplit(".", 1)
    if module.startswith("probe.integrations") and "miles" not in module:  # imports a framework
        assert re.search(
            rf"^class {name}\b", source(module.removeprefix("probe.").replace(".", "/") + ".py"), re.MULTILINE
        )
    else:
        assert callable(getattr(importlib.import_module(module), name))


@pytest.mark.parametrize("door", [sdk.HF_CALLBACK, sdk.LIGHTNING_LOGGER])
def test_callbacks_take_keywords_only(door: str) -> None:
    module, name = door.rsplit(".", 1)
    text = source(module.removeprefix("probe.").replace(".", "/") + ".py")
    start = text.index(f"class {name}")
    assert re.search(r"def __init__\(\s*self,\s*\*,", text[start:])


# -- the offline record ---------------------------------------------------------------------------------------------


def test_the_offline_record_is_laid_out_as_it_is_read(opened: tuple[Lab, dict[str, Any]]) -> None:
    folder, ops = operations(opened[0])
    manifest = json.loads((folder / sdk.MANIFEST).read_text())
    assert manifest["schema"] == sdk.MANIFEST_SCHEMA and manifest["name"] == "n"
    assert {op["schema"] for op in ops} == {sdk.OPS_SCHEMA}
    first = ops[0]
    assert first["kind"] == sdk.CREATE_KIND
    assert {key: first["create"]["body"][key] for key in ("name", "config", "tags")} == {
        "name": "n", "config": {"lr": 0.1}, "tags": ["t"]
    }  # fmt: skip
    [points] = [op["body"]["points"] for op in ops if op.get("path", "").endswith(sdk.METRICS_PATH)]
    assert [(point["key"], point["step_index"], point["value"]) for point in points] == [("a", 3, 1.0), ("n/b", 3, 2.0)]
    assert {point["wall_clock"] for point in points} == {"2020-01-01T00:00:00Z"}
    [steps] = [op["body"] for op in ops if op.get("path", "").endswith(sdk.STEPS_PATH)]
    assert (steps["step_index"], steps["attributes"]) == (3, {"text": "x"})
    patches = [op["body"] for op in ops if op.get("method") == "PATCH"]
    assert {"foreign_keys": {"wandb_run_id": "w1"}} in patches and {"config_merge": {"more": 1}} in patches
    assert patches[-1]["status"] == "failed" and "failed" in sdk.STATUSES


# -- what the module works around: when one of these fails, the way around can go -----------------------------------


@pytest.mark.parametrize("ending", ["probe.finish()", ""], ids=["finish", "exit"])
def test_an_offline_run_still_loses_a_row_that_is_held(tmp_path: Path, ending: str) -> None:
    lab = Lab(tmp_path)
    done = lab.run(
        f"import probe\nprobe.init(capture_reads=False)\nprobe.log({{'a': 1.0}}, step=0, commit=False)\n{ending}\n"
    )
    assert done.run.points == [], "the module need no longer hold rows itself"


# -- import and push ------------------------------------------------------------------------------------------------


def test_a_write_of_finished_curves_has_this_form() -> None:
    models = importlib.import_module("probe._generated.models")
    assert set(sdk.DERIVED_BODY) <= set(models.MetricBatch.model_fields)
    assert set(sdk.POINT_FIELDS) <= set(models.MetricPointIn.model_fields)
    [most] = [m.max_length for m in models.MetricBatch.model_fields["points"].metadata if hasattr(m, "max_length")]
    assert most == sdk.POINTS_MAXIMUM
    models.MetricBatch(origin="derived", points=[], provenance={"producer": "p", "note": "n"})
    client = importlib.import_module("probe.sdk.client").Client
    assert {"strict"} <= set(inspect.signature(client.write).parameters)
    run = importlib.import_module("probe.sdk.run").Run
    assert f"self.{sdk.RUN_CLIENT}.write(" in inspect.getsource(run.log_derived_series)
    assert {"status", "summary_metrics"} <= set(inspect.signature(run.finish).parameters)
    assert {"heartbeat", "on_conflict", "external_id"} <= {
        *inspect.signature(client.run).parameters, *inspect.signature(client.create_run).parameters,
    }  # fmt: skip
    name, function = sdk.SCRUB_CACHE
    assert callable(getattr(importlib.import_module(name), function))


def test_a_push_has_this_form() -> None:
    models = importlib.import_module("probe._generated.models")
    assert set(sdk.INGEST_FIELDS) <= set(models.IngestRunRequest.model_fields)
    assert set(sdk.INGEST_RUN_FIELDS) <= set(models.IngestRun.model_fields)
    client = importlib.import_module("probe.sdk.client").Client
    assert f'"{sdk.INGEST_PATH}"' in inspect.getsource(client.ingest)
    transport = source("sdk/transport.py")
    assert f'headers["{sdk.SIGNATURE_HEADER}"]' in transport
    assert importlib.import_module("probe.sdk.config").DEFAULT_BASE_URL == sdk.DEFAULT_BASE_URL
    for status in ("running", "completed", "failed", "canceled"):
        models.IngestRun(external_id="x", status=status)
