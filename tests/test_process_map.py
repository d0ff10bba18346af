"""The process map: each emitting place in its interpreter, and what starts that."""

from __future__ import annotations

from pathlib import Path

from instrument.plan.planner import make_plan
from instrument.repo.processes import ProcessMap
from instrument.repo.scan import Repository

EMIT = "import wandb\n\n\ndef record(run, step):\n    run.log({'loss': 1.0}, step=step)\n"
ACTOR = """
import ray
import wandb
from record import record


@ray.remote(num_gpus=1)
class Learner:
    def fit(self):
        run = wandb.init(project="toy")
        record(run, 0)
        run.finish()


def main():
    ray.init()
    learner = Learner.options(num_cpus=1).remote()
    ray.get(learner.fit.remote())


if __name__ == "__main__":
    main()
"""
SPAWN = """
import torch.multiprocessing as mp
import wandb


def worker(rank):
    run = wandb.init(project="toy")
    run.log({"loss": 1.0}, step=0)


if __name__ == "__main__":
    mp.spawn(worker, nprocs=2)
"""
SCRIPT = """
import wandb

run = wandb.init(project="toy")
for step in range(3):
    run.log({"loss": 1.0}, step=step)
"""


def mapped(folder: Path, **files: str) -> ProcessMap:
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return make_plan(Repository(folder)).processes


def edges(found: ProcessMap) -> set[tuple[str, str]]:
    return {(parent, process.id) for process in found.processes.values() for parent in process.parents}


def test_a_ray_job(tmp_path: Path) -> None:
    submit = "#!/bin/bash\n#SBATCH -N 1\nray job submit --working-dir . -- python train.py\n"
    found = mapped(tmp_path, record_dot_py=EMIT, train_dot_py=ACTOR, submit_dot_sh=submit)
    actor = found.processes["ray-actor train.py:Learner"]
    assert [(e.path, e.line, e.coverage) for e in actor.emitters] == [("record.py", 5, "covered")]
    assert [(s.path, s.line, s.how) for s in actor.starts] == [("train.py", 7, "@ray.remote")]
    assert edges(found) == {
        ("slurm submit.sh", "ray-job train.py"), ("ray-job train.py", "train.py"), ("train.py", actor.id),
    }  # fmt: skip
    assert found.processes["train.py"].kind == "ray-driver"
    assert [process.id for process in found.roots()] == ["slurm submit.sh"]


def test_ranks_and_spawned_workers(tmp_path: Path) -> None:
    launch = "#!/bin/bash\ntorchrun --nproc-per-node 8 \\\n  src/train.py --lr 1\n"
    found = mapped(tmp_path, src__train_dot_py=SCRIPT, workers_dot_py=SPAWN, scripts__run_dot_sh=launch)
    rank = found.processes["src/train.py"]
    assert (rank.kind, [(s.path, s.line, s.how) for s in rank.starts]) == ("rank", [("scripts/run.sh", 2, "torchrun")])
    worker = found.processes["spawned workers.py:worker"]
    assert worker.parents == ["workers.py"] and worker.starts[0].how == "mp.spawn"
    assert [e.line for e in worker.emitters] == [8]


def test_containers_subprocesses_and_notebooks(tmp_path: Path) -> None:
    drive = 'import subprocess\nimport sys\n\nsubprocess.run([sys.executable, "job.py"], check=True)\n'
    docker = 'FROM python:3.11\nCMD ["python", "serve/main.py"]\n'
    found = mapped(tmp_path, job_dot_py=SCRIPT, drive_dot_py=drive, Dockerfile=docker, serve__main_dot_py=SCRIPT)
    assert edges(found) == {("drive.py", "job.py"), ("container Dockerfile", "serve/main.py")}
    assert found.processes["job.py"].kind == "subprocess"


def test_a_plain_script_and_a_library(tmp_path: Path) -> None:
    library = (
        "import wandb\n\n\ndef fit(run):\n    run = wandb.init(project='toy')\n    run.log({'loss': 1.0}, step=0)\n"
    )
    found = mapped(
        tmp_path, train_dot_py=SCRIPT, pkg____init___dot_py="from pkg.fit import fit\n", pkg__fit_dot_py=library
    )
    assert {p.id: p.kind for p in found.processes.values()}["train.py"] == "script"
    document = found.to_json()
    assert document == sorted(document, key=lambda process: process["id"])


def test_what_is_not_covered_says_so(tmp_path: Path) -> None:
    """Code left as it is: the map is there for it as well."""
    found = mapped(tmp_path, train_dot_py="print('nothing')\n")
    assert not found and found.to_json() == []
