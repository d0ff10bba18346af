"""Writes `apis.json`: the public names of each tracker's module and run, read from its source (nothing is imported).

    python -m tests.trackers.read_apis FOLDER...     # folders with the unpacked packages

A package that is found in none of the folders keeps what is known of it.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from pathlib import Path

APIS = Path(__file__).with_name("apis.json")

#: Tracker: what is read of it, as (what it is called in the docs, the root in the tracker's table, file, class or None).
SOURCES: dict[str, list[tuple[str, str, str, str | None]]] = {
    "wandb": [
        ("wandb", "wandb", "wandb/__init__.py", None),
        ("run", "wandb.init()", "wandb/sdk/wandb_run.py", "Run"),
    ],
    "mlflow": [
        ("mlflow", "mlflow", "mlflow/tracking/fluent.py", None),
        ("MlflowClient()", "mlflow.MlflowClient()", "mlflow/tracking/client.py", "MlflowClient"),
    ],
    "tensorboard": [
        (
            "SummaryWriter()",
            "torch.utils.tensorboard.SummaryWriter()",
            "torch/utils/tensorboard/writer.py",
            "SummaryWriter",
        ),
    ],
    "trackio": [
        ("trackio", "trackio", "trackio/__init__.py", None),
        ("run", "trackio.init()", "trackio/run.py", "Run"),
    ],
    "swanlab": [
        ("swanlab", "swanlab", "swanlab/__init__.py", None),
        ("run", "swanlab.init()", "swanlab/sdk/internal/run/__init__.py", "Run"),
    ],
    "comet": [("experiment", "comet_ml.Experiment()", "comet_ml/experiment.py", "CometExperiment|BaseExperiment")],
    "neptune": [
        ("run[...]", "neptune.init_run()[]", "neptune/handler.py", "Handler"),
        ("run", "neptune.init_run()", "neptune/metadata_containers/metadata_container.py", "MetadataContainer"),
    ],
    "neptune_scale": [("run", "neptune_scale.Run()", "neptune_scale/api/run.py", "Run")],
    "aim": [("run", "aim.Run()", "aim/sdk/run.py", "BasicRun")],
    "clearml": [
        ("logger", "clearml.Logger.current_logger()", "clearml/logger.py", "Logger"),
        ("task", "clearml.Task.init()", "clearml/task.py", "Task"),
    ],
    "dvclive": [("live", "dvclive.Live()", "dvclive/live.py", "Live")],
}
#: Where a package's version is, if its folder is not a wheel's.
_DISTRIBUTIONS = {"tensorboard": "torch", "comet": "comet_ml"}


def names_in(path: Path, of: str | None) -> list[str]:
    """The public methods of a class, or the public functions of a module (those of `__all__` where it has one)."""
    tree = ast.parse(path.read_text("utf-8"))
    body: list[ast.stmt] = tree.body
    if of is not None:
        body = [
            s for node in tree.body if isinstance(node, ast.ClassDef) and node.name in of.split("|") for s in node.body
        ]
    names = {node.name for node in body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}
    if of is None:
        for node in body:
            listed = isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__"
            if listed and isinstance(node.value, (ast.List, ast.Tuple)):
                names = {str(item.value) for item in node.value.elts if isinstance(item, ast.Constant)}
    return sorted(name for name in names if not name.startswith("_") and not name[0].isupper())


def _version(folder: Path, package: str) -> str | None:
    for info in folder.glob("*.dist-info"):
        name, _, version = info.name.removesuffix(".dist-info").rpartition("-")
        if re.sub(r"[-.]", "_", name).lower() == package:
            return version
    return None


def main() -> None:
    known = json.loads(APIS.read_text()) if APIS.exists() else {}
    for tracker, parts in SOURCES.items():
        for folder in map(Path, sys.argv[1:]):
            version = _version(folder, _DISTRIBUTIONS.get(tracker, tracker))
            if version is None or not all((folder / file).exists() for _, _, file, _ in parts):
                continue
            known[tracker] = {
                "version": version,
                "objects": [
                    {"title": title, "root": root, "names": names_in(folder / file, of)}
                    for title, root, file, of in parts
                ],
            }
            break
    APIS.write_text(json.dumps(known, indent=1) + "\n")


if __name__ == "__main__":
    main()
