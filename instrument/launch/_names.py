"""Names that launchers are anchored on: packages, and the variables that carry a tracker's credentials.

The package is `probe-research`; `probe` on the index belongs to someone else and is never written anywhere.
"""

from __future__ import annotations

import importlib
import re

PACKAGE = "probe-research"
TOKEN = "PROBE_TOKEN"

#: Distributions that record metrics, the most telling first. Probe is installed where they are.
TRACKERS = (
    ("wandb",), ("mlflow", "mlflow-skinny"), ("trackio",), ("swanlab",), ("comet-ml",),
    ("neptune", "neptune-client", "neptune-scale"), ("aim",), ("clearml",), ("dvclive",),
)  # fmt: skip
#: Often there for viewing only, or by the way: an anchor where none of the above is.
VIEWERS = ("tensorboard", "tensorboardx", "torch-tb-profiler")
#: Trainer frameworks, for a repository that installs no tracker by name.
FRAMEWORKS = (
    "trl", "transformers", "lightning", "pytorch-lightning", "accelerate", "verl", "ray", "stable-baselines3", "keras",
    "composer", "deepspeed", "torchtune", "axolotl", "llamafactory", "ms-swift", "unsloth",
)  # fmt: skip
#: What a loop of one's own is written in.
LIBRARIES = ("torch", "jax", "flax", "tensorflow", "xgboost", "lightgbm", "scikit-learn", "numpy")
#: Tiers of anchors, each in groups of names for one thing. A tier is looked at where those before it gave nothing.
TIERS: tuple[tuple[tuple[str, ...], ...], ...] = (TRACKERS, (VIEWERS,), (FRAMEWORKS,), (LIBRARIES,))
CLASSES: tuple[tuple[str, ...], ...] = (*TRACKERS, VIEWERS, FRAMEWORKS, LIBRARIES)

#: Variables that carry a tracker's credentials, as the trackers' own documentation names them.
_CREDENTIALS = re.compile(
    r"(?:WANDB|SWANLAB|COMET|CLEARML|NEPTUNE|MLFLOW_TRACKING|TRACKIO|DVC_STUDIO)_"
    r"(?:API_KEY|API_TOKEN|API_ACCESS_KEY|KEY|TOKEN|USERNAME|PASSWORD|URI)"
)
#: Settings of a tracker that are no credential but travel to the same process.
_SETTINGS = re.compile(r"(?:WANDB|SWANLAB|COMET|NEPTUNE|MLFLOW|TRACKIO|TENSORBOARD)_[A-Z0-9_]+")

NEEDLES = tuple(
    name.encode() for name in ("WANDB_", "SWANLAB_", "COMET_", "CLEARML_", "NEPTUNE_", "MLFLOW_", "TRACKIO_")
)


def is_credential(name: str) -> bool:
    """Whether a variable carries a tracker's credentials."""
    return bool(_CREDENTIALS.fullmatch(name))


def is_tracker_variable(name: str) -> bool:
    """Whether a variable belongs to a tracker, credentials or settings."""
    return is_credential(name) or bool(_SETTINGS.fullmatch(name))


def best_variable(names: list[str]) -> int | None:
    """The position of the variable to stand beside: a credential, else a tracker's setting, else none."""
    for test in (is_credential, is_tracker_variable):
        for position, name in enumerate(names):
            if test(name):
                return position
    return None


_NAME = re.compile(r"\s*([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?=$|[\[<>=!~;@,#\s(^\"'])")


def distribution(requirement: str) -> str | None:
    """The normalised distribution name of a requirement ("wandb[media]>=0.17" -> "wandb"), or None."""
    match = _NAME.match(requirement)
    return re.sub(r"[-_.]+", "-", match[1]).lower() if match else None


def minimum() -> str:
    """The lowest SDK release that the inserted code works with, which the SDK contract test backs."""
    try:
        sdk = importlib.import_module("instrument.sdk")
    except ImportError:
        return "0.337"
    return str(getattr(sdk, "MINIMUM", "0.337"))


def bounded(like: str = "", *, python: str | None = None) -> str:
    """The requirement for a file that declares dependencies, spaced as its neighbour `like` is.

    `python` is the lowest Python that the project supports; the SDK needs 3.10, so that an older one gets a marker
    (a resolver would otherwise refuse the whole project).
    """
    space = " " if re.search(r"\w\s+(?:[<>=~!]=?|@)", like.split(";")[0].split("#")[0]) else ""
    text = f"{PACKAGE}{space}>={space}{minimum()}"
    if python is not None and older_python(python):
        text += "; python_version >= '3.10'"
    return text


def older_python(python: str) -> bool:
    """Whether a requires-python text admits something below 3.10."""
    match = re.search(r"(?:>=|~=|\^|==)\s*3\.(\d+)", python)
    return bool(match) and int(match[1]) < 10 if match else False
