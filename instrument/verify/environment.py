"""The environment that the trainer is run in: every tracker local and private, no credential in it."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Mapping
from pathlib import Path

from instrument.verify.records import all_readers

#: Names the run, so that its processes can be told from others on the machine.
MARK = "INSTRUMENT_VERIFY"

#: Variables that carry a credential, or that join or send to a run somewhere else.
REMOVED = tuple(
    """
    *_API_KEY *_APIKEY *_API_TOKEN *_ACCESS_TOKEN *_SECRET *_SECRET_KEY *_SECRET_ACCESS_KEY *_PASSWORD
    PROBE_TOKEN PROBE_INGEST_TOKEN PROBE_HMAC_SECRET PROBE_MCP_TOKEN PROBE_SERVICE_TOKEN PROBE_BASE_URL
    PROBE_RUN_ID PROBE_RUN_EPOCH PROBE_INIT_FALLBACK RESEARCH_OS_RUN_ID
    HF_TOKEN HUGGING_FACE_HUB_TOKEN HUGGINGFACE_HUB_TOKEN HUGGINGFACE_TOKEN GITHUB_TOKEN GH_TOKEN
    WANDB_RUN_ID WANDB_RESUME WANDB_SWEEP_ID WANDB_SERVICE WANDB_IDENTITY_TOKEN_FILE
    MLFLOW_TRACKING_TOKEN MLFLOW_TRACKING_USERNAME MLFLOW_RUN_ID MLFLOW_EXPERIMENT_ID DATABRICKS_*
    TRACKIO_SPACE_ID TRACKIO_SERVER_URL TRACKIO_DATASET_ID TRACKIO_BUCKET_ID
    AWS_SESSION_TOKEN AWS_ACCESS_KEY_ID GOOGLE_APPLICATION_CREDENTIALS AZURE_CLIENT_ID
    """.split()
)

#: Trackers whose records are not read, kept from sending all the same.
OFFLINE = {
    "COMET_MODE": "disabled",
    "NEPTUNE_MODE": "offline",
    "CLEARML_OFFLINE_MODE": "1",
    "DO_NOT_TRACK": "1",
}


def removed(names: Iterable[str], keep: Iterable[str] = ()) -> list[str]:
    """Which of these variables the trainer does not get; `keep` are names that a person wants it to have."""
    kept = set(keep)
    return sorted(
        name for name in names if name not in kept and any(fnmatch.fnmatchcase(name.upper(), glob) for glob in REMOVED)
    )


def private(folder: Path) -> dict[str, str]:
    """The variables that point every tracker below the folder. Makes the folders that must be there beforehand."""
    variables = {**OFFLINE, "HF_TOKEN_PATH": str(folder / "hf-token"), "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1"}
    for reader in all_readers():
        variables.update(reader.environment(folder))
    for name, value in variables.items():
        if value.startswith(str(folder)) and value.endswith("/"):
            Path(value).mkdir(parents=True, exist_ok=True)
            variables[name] = value.rstrip("/")
    return variables


def environment(base: Mapping[str, str], folder: Path, mark: str, keep: Iterable[str] = ()) -> dict[str, str]:
    """The trainer's environment: `base` without credentials, with every tracker below `folder`."""
    gone = set(removed(base, keep))
    return {**{name: value for name, value in base.items() if name not in gone}, **private(folder), MARK: mark}
