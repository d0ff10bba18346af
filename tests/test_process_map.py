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


FUNCTION = "import wandb\n\n\ndef train(lr=1):\n    wandb.init(project='toy')\n    wandb.log({'loss': 1.0}, step=0)\n"
GUARD = '\n\nif __name__ == "__main__":\n'


def starts(found: ProcessMap, id: str) -> list[tuple[str, int, str]]:
    return [(start.path, start.line, start.how) for start in found.processes[id].starts]


def test_submitit(tmp_path: Path) -> None:
    """A function of another file, and an object with `__call__` that is made in the call."""
    launch = (
        "import submitit\n\nfrom train import train\n\nex = submitit.AutoExecutor(folder='log')\n"
        "ex.submit(train, 1)\nex.map_array(train, [1, 2])\n"
    )
    job = (
        "import submitit\nimport wandb\n\n\nclass Job:\n    def __call__(self):\n        wandb.init()\n"
        "        wandb.log({'a': 1})\n\n\nsubmitit.SlurmExecutor(folder='x').submit(Job())\n"
    )
    found = mapped(tmp_path, train_dot_py=FUNCTION, launch_dot_py=launch, job_dot_py=job)
    assert edges(found) == {("launch.py", "submitit train.py:train"), ("job.py", "submitit job.py:Job")}
    assert starts(found, "submitit train.py:train") == [
        ("launch.py", 6, "ex.submit"), ("launch.py", 7, "ex.map_array"),
    ]  # fmt: skip


def test_modal(tmp_path: Path) -> None:
    app = (
        "import modal\nimport wandb\n\napp = modal.App()\n\n\n@app.function()\ndef fit():\n    wandb.init()\n"
        "    wandb.log({'a': 1})\n\n\n@app.cls()\nclass Trainer:\n    @modal.method()\n    def go(self):\n"
        "        wandb.init()\n        wandb.log({'a': 1})\n"
    )
    found = mapped(tmp_path, app_dot_py=app, run_dot_sh="#!/bin/bash\nmodal run --detach app.py::fit --lr 1\n")
    assert starts(found, "modal app.py:fit") == [("app.py", 7, "@app.function"), ("run.sh", 2, "modal run")]
    assert starts(found, "modal app.py:Trainer") == [("app.py", 13, "@app.cls")]
    assert [e.line for e in found.processes["modal app.py:Trainer"].emitters] == [18]


def test_sky_and_kubernetes(tmp_path: Path) -> None:
    sky = "resources: {accelerators: A100}\nsetup: pip install wandb\nrun: |\n  torchrun --nproc_per_node 8 train.py\n"
    job = (
        "apiVersion: batch/v1\nkind: Job\nspec:\n  containers:\n  - name: t\n"
        '    command: ["python", "-u", "evaluate.py"]\n'
    )
    replicas = (
        "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nspec:\n  containers:\n  - name: t\n    command:\n"
        "    - torchrun\n    - --nnodes=2\n    - src/pretrain.py\n"
    )
    found = mapped(
        tmp_path, train_dot_py=SCRIPT, evaluate_dot_py=SCRIPT, src__pretrain_dot_py=SCRIPT, task_dot_yaml=sky,
        job_dot_yaml=job, replicas_dot_yaml=replicas,
    )  # fmt: skip
    assert edges(found) == {
        ("sky task.yaml", "train.py"), ("kubernetes job.yaml", "evaluate.py"),
        ("kubernetes replicas.yaml", "src/pretrain.py"),
    }  # fmt: skip
    kinds = {process.id: process.kind for process in found.processes.values()}
    assert (kinds["train.py"], kinds["evaluate.py"], kinds["src/pretrain.py"]) == ("rank", "script", "rank")


def test_launchers_of_ranks(tmp_path: Path) -> None:
    shell = (
        "#!/bin/bash\naccelerate launch --num_processes 8 one.py --lr 1\ndeepspeed --num_gpus 8 two.py\n"
        "accelerate launch -m pkg.three\n"
    )
    found = mapped(
        tmp_path, one_dot_py=SCRIPT, two_dot_py=SCRIPT, pkg____init___dot_py="", pkg__three_dot_py=SCRIPT,
        run_dot_sh=shell, Makefile="ddp:\n\ttorchrun --nproc-per-node 2 four.py\n", four_dot_py=SCRIPT,
    )  # fmt: skip
    assert starts(found, "one.py") == [("run.sh", 2, "accelerate launch")]
    assert starts(found, "two.py") == [("run.sh", 3, "deepspeed")]
    assert starts(found, "pkg/three.py") == [("run.sh", 4, "accelerate launch")]
    assert starts(found, "four.py") == [("Makefile", 2, "torchrun")]
    assert {process.kind for process in found.processes.values()} == {"rank"}


def test_workers_and_pools(tmp_path: Path) -> None:
    spawn = (
        FUNCTION + GUARD + "    import multiprocessing\n\n    context = multiprocessing.get_context('spawn')\n"
        "    context.Process(target=train, args=(1,)).start()\n"
    )
    pool = (
        FUNCTION + GUARD + "    from concurrent.futures import ProcessPoolExecutor\n\n"
        "    with ProcessPoolExecutor() as pool:\n        list(pool.map(train, [1, 2]))\n"
    )
    threads = pool.replace("Process", "Thread")
    notebook = FUNCTION + "\n\nfrom accelerate import notebook_launcher\n\nnotebook_launcher(train, num_processes=2)\n"
    found = mapped(tmp_path, a_dot_py=spawn, b_dot_py=pool, c_dot_py=threads, d_dot_py=notebook)
    assert edges(found) == {
        ("a.py", "spawned a.py:train"), ("b.py", "spawned b.py:train"), ("d.py", "forked d.py:train"),
    }  # fmt: skip
    assert [e.line for e in found.processes["c.py"].emitters] == [6]


def test_subprocesses(tmp_path: Path) -> None:
    """The command in the call, by a name, in one string; ranks; the program that takes this one's place."""
    drive = (
        "import os\nimport subprocess\nimport sys\n\nsubprocess.Popen(['torchrun', 'one.py'])\n"
        "cmd = [sys.executable, 'two.py']\nsubprocess.check_call(cmd)\nos.system('python three.py --lr 1')\n"
        "os.execv(sys.executable, ['python', 'four.py'])\n"
    )
    names = ("one", "two", "three", "four")
    found = mapped(tmp_path, drive_dot_py=drive, **{f"{name}_dot_py": SCRIPT for name in names})
    assert edges(found) == {("drive.py", f"{name}.py") for name in names}
    kinds = [found.processes[f"{name}.py"].kind for name in names]
    assert kinds == ["rank", "subprocess", "subprocess", "subprocess"]
    assert starts(found, "four.py") == [("drive.py", 9, "os.execv")]


def test_ray_tasks_and_jobs(tmp_path: Path) -> None:
    task = (
        "import ray\nimport wandb\n\n\n@ray.remote\ndef fit():\n    wandb.init()\n    wandb.log({'a': 1})\n\n\n"
        "class Worker:\n    def go(self):\n        wandb.init()\n        wandb.log({'a': 1})\n\n\n"
        "ray.init()\nray.get(fit.remote())\nray.remote(num_gpus=1)(Worker).remote()\n"
    )
    submit = (
        "from ray.job_submission import JobSubmissionClient\n\n"
        "JobSubmissionClient('x').submit_job(entrypoint='python train.py')\n"
    )
    found = mapped(tmp_path, train_dot_py=task, submit_dot_py=submit)
    assert edges(found) == {
        ("submit.py", "ray-job train.py"), ("ray-job train.py", "train.py"), ("train.py", "ray-task train.py:fit"),
        ("train.py", "ray-actor train.py:Worker"),
    }  # fmt: skip
    assert found.processes["train.py"].kind == "ray-driver"


def test_processes_that_no_token_reaches(tmp_path: Path) -> None:
    """A container, a pod, a task that run covered code, and nothing in the repository names the token for them."""
    files = {
        "train.py": SCRIPT,
        "run.sh": "#!/bin/bash\npython train.py\ndocker run --gpus all img python train.py\n",
        "job.yaml": 'apiVersion: batch/v1\nkind: Job\nspec:\n  command: ["python", "train.py"]\n',
        "task.yaml": "resources: {accelerators: A100}\nrun: python train.py\n",
        "compose.yaml": "services:\n  train:\n    build: .\n    command: python train.py\n",
        "Dockerfile": 'FROM python:3.11\nCOPY . .\nCMD ["python", "train.py"]\n',
        "given.yaml": (
            'apiVersion: batch/v1\nkind: Job\nspec:\n  env:\n  - name: WANDB_API_KEY\n    value: ""\n'
            '  command: ["python", "train.py"]\n'
        ),
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    notes = make_plan(Repository(tmp_path)).notes
    assert sorted((note.path, note.line) for note in notes if note.code == "token-not-given") == [
        ("compose.yaml", 4), ("job.yaml", 4), ("run.sh", 3), ("task.yaml", 2),
    ]  # fmt: skip
