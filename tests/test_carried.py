"""A file that something takes elsewhere by itself: `import probe_tracking` would fail there, so the guards go inline."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.miles import applied, planned

TRAIN = 'import wandb\n\nwandb.init(project="toy")\nfor step in range(3):\n    wandb.log({"loss": 1.0}, step=step)\n'
ALONE = {
    "Dockerfile": "FROM python:3.11\nWORKDIR /app\nRUN pip install wandb\nCOPY train.py .\nCMD python train.py\n",
    "docker/Dockerfile.gpu": 'FROM x\nCOPY --chown=1 requirements.txt src/train.py /app/\nCMD ["python", "/app/train.py"]\n',
    "run.sh": "#!/bin/bash\nscp train.py node1:/tmp/\nssh node1 python /tmp/train.py\n",
    "mount.sh": '#!/bin/bash\ndocker run -v "$PWD/train.py:/app/train.py" img python /app/train.py\n',
    "job.sbatch": "#!/bin/bash\n#SBATCH -N 1\ncp train.py $SLURM_TMPDIR\ncd $SLURM_TMPDIR && python train.py\n",
    "compose.yaml": "services:\n  train:\n    image: x\n    volumes:\n      - ./train.py:/app/train.py:ro\n",
    "sky.yaml": "file_mounts:\n  ~/train.py: ./train.py\nrun: python ~/train.py\n",
    "setup.py": 'from setuptools import setup\n\nsetup(name="x", py_modules=["train"])\n',
    "pyproject.toml": '[project]\nname = "x"\n[tool.setuptools]\npy-modules = ["train"]\n',
    "app.py": 'import modal\n\nimage = modal.Image.debian_slim().add_local_file("train.py", "/root/train.py")\n',
}
TOGETHER = {
    "Dockerfile": "FROM python:3.11\nRUN pip install wandb\nCOPY . .\n# COPY train.py .\nCMD python train.py\n",
    "Dockerfile.src": "FROM x\nCOPY *.py ./\nCOPY src /app/src\nCMD python train.py\n",
    "Dockerfile.both": "FROM x\nCOPY train.py probe_tracking.py ./\n",
    "run.sh": "#!/bin/bash\nmkdir -p out\ncp train.py out/  # what was run\nrsync -a . node1:/x\nscp my_train.py node1:\npython train.py\n",
    "compose.yaml": "services:\n  train:\n    volumes:\n      - .:/app\n    command: python train.py\n",
    "setup.py": 'from setuptools import setup\n\nsetup(name="x", py_modules=["trainer"])\n',
}


def _repo(folder: Path, name: str, text: str) -> Path:
    script = folder / ("src/train.py" if "src/train.py" in text else "train.py")
    for path, content in ((script, TRAIN), (folder / name, text)):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return script


@pytest.mark.parametrize("name", ALONE)
def test_a_file_taken_alone(name: str, tmp_path: Path) -> None:
    script = _repo(tmp_path, name, ALONE[name])
    applied(tmp_path)
    text = script.read_text()
    assert "class _Probe" in text and "import probe_tracking" not in text
    assert list(tmp_path.rglob("probe_tracking.py")) == []
    assert planned(tmp_path)[1] == {}


@pytest.mark.parametrize("name", TOGETHER)
def test_a_file_taken_with_its_neighbours(name: str, tmp_path: Path) -> None:
    script = _repo(tmp_path, name, TOGETHER[name])
    applied(tmp_path)
    assert "import probe_tracking as probe" in script.read_text() and (tmp_path / "probe_tracking.py").exists()
