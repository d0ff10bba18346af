"""Each proof is attacked: edits that keep the program pass, those that break it are refused by the right proof."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from textwrap import dedent

import pytest

from instrument.errors import InstrumentError, ProofError
from instrument.patch.proofs import NAMES, Proof, prove
from instrument.plan.edits import Edit, NewFile
from instrument.plan.model import Plan
from instrument.repo.scan import Repository

Files = Mapping[str, "bytes | str"]


def nothing(repo: Repository) -> Plan:
    return Plan(root=".")


def marked(path: str, text: str) -> tuple[str, list[Edit]]:
    """A source and its edits from one text: `«new»` inserted, `«old→new»` replaced, `«old⇒new»` moved into a name."""
    source, edits, at = "", [], 0
    while "«" in text[at:]:
        start = text.index("«", at)
        end = text.index("»", start)
        source += text[at:start]
        inner = text[start + 1 : end]
        old, new, moved = "", inner, False
        for sign in "→⇒":
            if sign in inner:
                old, new = inner.split(sign)
                moved = sign == "⇒"
        here = len(source)
        edits.append(Edit(path=path, start=here, end=here + len(old), text=new, reason="why", rule="t", moved=moved))
        source += old
        at = end + 1
    return source + text[at:], edits


@pytest.fixture
def check(tmp_path: Path) -> Callable[..., list[Proof]]:
    def run(
        text: str, *, path: str = "train.py", files: Files | None = None, new: tuple[NewFile, ...] = (),
        replan: Callable[[Repository], Plan] = nothing, encoding: str = "utf-8",
    ) -> list[Proof]:  # fmt: skip
        source, edits = marked(path, text)
        for name, data in {path: source, **(files or {})}.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_bytes(data.encode(encoding) if isinstance(data, str) else data)
        repo = Repository(tmp_path)
        return prove(repo, Plan(root=".", edits=edits, new_files=list(new)), replan)

    return run


def refused(check: Callable[..., object], proof: str, text: str, message: str = ".", **more: object) -> ProofError:
    with pytest.raises(ProofError, match=message) as caught:
        check(text, **more)
    assert caught.value.proof == proof, str(caught.value)
    assert proof in NAMES
    return caught.value


# -- what passes


GOOD = {
    "statements": """\
        import wandb
        «import probe_tracking as probe
        »
        def main(args):
            wandb.init(project="toy")
            «probe.init(config=vars(args))
            »for step in range(3):
                loss = step * 2
                wandb.log({"loss": loss}, step=step)«
                probe.log({"loss": loss}, step=step)»
            if args.x: wandb.finish()«; probe.finish()»
        """,
    "at the end without a newline": "a = 1«\nprobe.finish()»",
    "in an empty file": "«import probe\n»",
    "comment alone": "a = 1  «# note»\n",
    "keyword": "t = Trainer(model, args=a«, callbacks=[ProbeCallback()]»)\n",
    "keyword in an empty call": "t = Trainer(«callbacks=[P()]»)\n",
    "keyword over lines": "t = Trainer(\n    model,\n    args=a,«\n    callbacks=[P()],»\n)\n",
    "element of a list": "t = Trainer(callbacks=[A()«, P()»])\n",
    "element of an empty list": "t = Trainer(callbacks=[«P()»])\n",
    "element of a tuple": "t = Trainer(callbacks=(A(), «P(), »))\nc = (1, 2«, 3»)\n",
    "element of a set": "x = {1«, 2»}\n",
    "item of a dict": 'd = {"a": 1«, "probe": Tracker»}\ne = {**d«, **{"probe": 1}»}\n',
    "with item": "with wandb.init() as run«, probe.init() as p»:\n    pass\n",
    "with item in parentheses": "with (\n    wandb.init() as run,«\n    probe.init(),»\n):\n    pass\n",
    "import alias": "from transformers import Trainer«, TrainerCallback»\nimport os«, sys»\n",
    "star into a list": "t = Trainer(callbacks=«[*»cbs«, P()]»)\n",
    "star of a default": "t = Trainer(callbacks=«[*(»cbs« or []), P()]»)\n",
    "added list": "t = Trainer(callbacks=cbs«+ [P()]»)\nu = T(callbacks=«[P()] + »x)\n",
    "a logger becomes a list": "t = Trainer(logger=«[»logger«, ProbeLogger()]»)\n",
    "a name becomes a list": "a = Accelerator(log_with=«[»'wandb'«, ProbeTracker()]»)\n",
    "list call": "t = Trainer(callbacks=«list(»x« or []) + [P()]»)\n",
    "spread mapping": "r = job(env=«{**»env«, 'A': '1'}»)\ns = job(env=env« | {'A': '1'}»)\n",
    "wrapped": "r = job(runtime_env=«with_probe(»env«)»)\n",
    "options": "r = Actor«.options(runtime_env=e)».remote(1)\n",
    "requirement of an image": "image = Image.debian_slim().pip_install('torch'«, 'probe-research'»)\n",
    "element of a list that is added to": "c = a + [A()«, P()»]\nd = b or [A()«, P()»]\ne = [A()«, P()»] if c else d\n",
    "list that is returned": "def f():\n    return [A()«, P()»]\ndef g():\n    return «[*»cbs«, P()]»\n",
    "walrus": "x = [«(»log(«(m := »f()«)»)«, probe.log(m))[0]» for i in y]\n",
    "pair in a lambda": "g = lambda m: «(»wandb.log(m)«, probe.log(m))[0]»\n",
    "pair as a statement": "«(»wandb.log(m)«, probe.log(m))[0]» if a else None\n",
    "pair at the end": "a and b or «(»wandb.log(m)«, probe.log(m))[0]»\n",
    "pair at the start": "«(»wandb.log(m)«, probe.log(m))[0]» + x\n",
    "pairs on both sides": "x = «(»f(m)«, probe.log(m))[0]» + «(»g(m)«, probe.log(m))[0]»\n",
    "pair of a value that is looked into": "«(»f(m)«, probe.log(m))[0]».x().y = 1\n",
    "pair in parentheses": "x = [(«(»f(m)«, probe.log(m))[0]») for m in y]\nz = «[*»(x)«, P()]»\n",
    "pair, ours first": "g = lambda m: «(probe.log(m), »wandb.log(m)«)[1]»\n",
    "pair, picked from the end": "g = lambda m: «(probe.log(m), »wandb.log(m)«)[-1]»\n",
    "parentheses": "x = «(»f()«)» + 1\n",
    "kept in a name": "def f():\n    «run = »wandb.init()«\n    probe.init(name=run.name)»\n",
    "update of a name": "cbs = [A()]\n«cbs = [*cbs, P()]\n»«cbs += [P()]\n»t = Trainer(callbacks=cbs)\n",
    "finally": "try:\n    f()\nexcept E:\n    g()\n«finally:\n    probe.finish()\n»",
    "else": "if a:\n    f()\n«else:\n    probe.off()\n»",
    "guarded import": "«try:\n    import probe\nexcept ImportError:\n    probe = None\n»x = 1\n",
    "a loop with its own break": "«for k in ks:\n    if k: break\n»x = 1\n",
    "a definition with its own return": "«def send(m):\n    return probe.log(m)\n»x = 1\n",
    "raise that is caught": "«try:\n    raise ValueError\nexcept Exception:\n    pass\n»x = 1\n",
    "decorated neighbour": "«import probe\n»@cache\ndef f():\n    «probe.log({})\n    »return 1\n",
    "inside a decorator's call": "@hydra.main(a=1«, b=2»)\ndef f():\n    pass\n",
    "below docstring and future": '"""Doc."""\nfrom __future__ import annotations\n«import probe\n»import os\n',
    "method": "class C(Callback):\n    «def on_log(self):\n        return 1\n    »def other(self):\n        pass\n",
    "same import again": "import os\ndef f():\n    return os.name\n«import os\n»",
    "import of what is used without": "print(os.name)\n«import os\n»",
    "a name that others have as their own": """\
        «import probe
        »
        def f(probe):
            return probe
        def g():
            probe = 1
            return lambda: probe
        class C:
            probe = 2
            x = probe
        """,
    "type comments": "x = []  # type: list[int]\n«import probe\n»for i in x:  # type: int\n    pass\n",
    "type ignores": "«import probe\n»import y  # type: ignore\n«import z\n»\nimport x  # type: ignore[x]\n",
    "a comment that is no type comment": "x = 1  # type: is what it is, really\n«import probe\n»",
    "top-level await": "await f()\n«probe.log({})\n»",
    "return in a script that python refuses but a parser takes": "return 1\n«probe.log({})\n»",
    "odd constants": "x = (-0.0, 1e999, 1j, '\\ud800', b'\\x00', 10**9, ..., None, True)\n«import probe\n»",
    "match": """\
        match x:
            case [1, *r] if r:
                f()
        «        probe.log(r)
        »    case {'a': b, **rest}:
                pass
        """,
    "non-ascii before": "é = 'ü'; f(é«, k=1»)\nx = f'{é}«»'\n",
    "next to an f-string": "log(f'{a!r:>{w}} {b}'«, step=s»)\n",
    "cr": "a = 1\r«import probe\r»b = 2\r",
    "crlf": "if a:\r\n    b()\r\n«    probe.log()\r\n»c()\r\n",
    "form feed": "a = 1\n\x0c\n«import probe\n»def f():\n    pass\n",
}


@pytest.mark.parametrize("text", GOOD.values(), ids=GOOD)
def test_edits_that_keep_the_program_pass_every_proof(check: Callable[..., list[Proof]], text: str) -> None:
    newer = {"pyproject.toml": '[project]\nrequires-python = ">=3.10"\n'}
    passed = check(dedent(text), files=newer)
    assert {proof.name for proof in passed} == {*NAMES} - {"notebook"}


MOVED_GOOD = {
    "one": "«m = f()\n»wandb.log(«f()⇒m», step=s)«\nprobe.log(m, step=s)»\n",
    "two in order": "«m = f()\nn = g()\n»wandb.log(«f()⇒m», step=«g()⇒n»)\n",
    "after names and literals": "«n = g()\n»run.log({'a': x.y, 'b': [1, -2, z], 'c': d['k']}, step=«g()⇒n»)\n",
    "what follows stays": "«m = f()\n»wandb.log(«f()⇒m», step=g())\n",
    "with ours between": "«m = f()\nprobe.init()\nprobe.log(m)\n»return_value = wandb.log(«f()⇒m»)\n",
    "in a return": "def h():\n    «m = f()\n    probe.log(m)\n    »return wandb.log(«f()⇒m»)\n",
    "the receiver": "«r = get()\n»«get()⇒r».log(x)\n",
    "receiver and argument": "«r = get()\nm = f()\n»«get()⇒r».log(«f()⇒m»)\n",
    "in an if": "«r = init()\n»if «init()⇒r»:\n    pass\n",
    "in a for": "«r = init()\n»for x in «init()⇒r»:\n    pass\n",
    "in a with": "«r = init()\n»with «init()⇒r» as x, y:\n    pass\n",
    "in an inner block": "if a:\n    for b in c:\n        «m = f(b)\n        »log(«f(b)⇒m»)\n",
    "in an else": "if a:\n    pass\nelse:\n    «m = f()\n    »log(«f()⇒m»)\n",
    "over lines": "«m = {\n    'a': f(),\n}\n»log(«{\n        'a': f(),\n    }⇒m»)\n",
    "same name twice": "«m = f()\n»log(«f()⇒m»)\n«m = g()\n»log(«g()⇒m»)\n",
    "await": "async def h():\n    «m = await f()\n    »log(«await f()⇒m»)\n",
    "with names of its own": "«m = f(a := g())\n»log(«f(a := g())⇒m»)\nh(a)\n",
    "a yield": "def h():\n    «m = yield 1\n    »log(«(yield 1)⇒m»)\n",
    "pair with names of its own": "g = lambda: «(probe.log((m := f(a := 1))), »wandb.log(«f(a := 1)⇒m»)«)[1]» or a\n",
    "augmented": "«m = f()\n»x += «f()⇒m»\n",
    "beside an added keyword": "«m = f()\n»log(«f()⇒m»«, extra=h()»)\n",
    "pair": "g = lambda: «(probe.log((m := f())), »wandb.log(«f()⇒m»)«)[1]»\n",
    "pair of two": "g = lambda: «(probe.log((m := f()), step=(s := k())), »wandb.log(«f()⇒m», step=«k()⇒s»)«)[1]»\n",
    "deep in a call": "«m = f()\n»loop(a, init(«f()⇒m»), other())\n",
}


@pytest.mark.parametrize("text", MOVED_GOOD.values(), ids=MOVED_GOOD)
def test_an_expression_moved_into_a_name_passes(check: Callable[..., list[Proof]], text: str) -> None:
    check(text)


def test_what_is_proved_is_told_and_replaced_spans_are_listed(check: Callable[..., list[Proof]]) -> None:
    passed = check(
        "import os\nt = Trainer(callbacks=«None→[P()]»)\n",
        new=(NewFile(path="pkg/probe_tracking.py", text="import probe\n", reason="r", rule="t"),),
    )
    assert [(p.name, p.path) for p in passed] == [
        ("same form", "train.py"),
        ("parses", "train.py"),
        ("reversible", "train.py"),
        ("same program", "train.py"),
        ("same form", "pkg/probe_tracking.py"),
        ("parses", "pkg/probe_tracking.py"),
        ("idempotent", None),
    ]
    assert passed[2].notes == ("line 2: «None» is replaced by «[P()]»",)


REPLACED_GOOD = {
    "inside a statement": "f(a)\nt = Trainer(callbacks=«None→[P()]», x=1)\ng(b)\n",
    "a whole statement": "f(a)\n«import wandb→import probe_tracking as wandb»\ng(b)\n",
    "several by one": "f(a)\n«x = 1\ny = 2→z = 3»\ng(b)\n",
    "one by several": "def f():\n    «x = 1→x = 1\n    y = 2»\n    return x\n",
    "head of a compound": "with «a→b»:\n    f()\n    «probe.log()\n    »g()\n",
    "in the else": "if a:\n    f()\nelse:\n    «g→h»()\n",
    "in a handler": "try:\n    f()\nexcept E:\n    «g→h»()\n",
    "deleted": "f()\n«g()\n→»h()\n",
    "beside an insertion": "«m = 1\n»f(«None→[m]»«, k=2»)\n",
}


@pytest.mark.parametrize("text", REPLACED_GOOD.values(), ids=REPLACED_GOOD)
def test_a_replaced_span_is_listed_and_all_around_it_is_compared(check: Callable[..., list[Proof]], text: str) -> None:
    assert any(proof.notes for proof in check(text))


# -- 1: parses


PARSES_BAD = {
    "no syntax": ("x = 1\n«import (\n»", "does not parse"),
    "indentation": ("if x:\n    f()\n«  g()\n»", "does not parse"),
    "a word in a word": ("pass«x y»\n", "does not parse"),
    "a keyword twice": ("f(callbacks=1«, callbacks=2»)\n", "does not parse|does not compile"),
    "return outside a function": ("«return\n»x = 1\n", "does not compile"),
    "await outside a coroutine": ("def f():\n    «await g()\n    »pass\n", "does not compile"),
    "future not first": ("«import probe\n»from __future__ import annotations\n", "does not compile"),
    "global after use": ("def f():\n    print(x)\n    «global x\n    »\n", "does not compile"),
    "continue in no loop": ("«continue\n»x = 1\n", "does not compile"),
}


@pytest.mark.parametrize(("text", "message"), PARSES_BAD.values(), ids=PARSES_BAD)
def test_a_result_that_does_not_compile(check: Callable[..., object], text: str, message: str) -> None:
    refused(check, "parses", text, message)


DECLARED: dict[str, tuple[Files, bool]] = {
    "pyproject": ({"pyproject.toml": '[project]\nrequires-python = ">=3.8"\n'}, False),
    "pyproject, newer": ({"pyproject.toml": '[project]\nrequires-python = ">=3.10,<4"\n'}, True),
    "poetry": ({"pyproject.toml": '[tool.poetry.dependencies]\npython = "^3.9"\n'}, False),
    "setup.cfg": ({"setup.cfg": "[options]\npython_requires = >=3.7\n"}, False),
    "setup.py": ({"setup.py": "setup(python_requires='>= 3.10')\n"}, True),
    "nearest wins": (
        {
            "pkg/pyproject.toml": '[project]\nrequires-python = ">=3.10"\n',
            "setup.cfg": "[options]\npython_requires = >=3.7\n",
        },
        True,
    ),
    "broken files are passed by": ({"pyproject.toml": "[python\n", "setup.cfg": "[options\npython_requires"}, False),
    "odd specifier": ({"pyproject.toml": '[project]\nrequires-python = "three"\n'}, False),
    "nothing": ({}, False),
}


@pytest.mark.parametrize(("files", "allowed"), DECLARED.values(), ids=DECLARED)
def test_the_declared_python_must_take_the_result(check: Callable[..., object], files: Files, allowed: bool) -> None:
    text = "x = 1\n«match x:\n    case 1: pass\n»"
    if allowed:
        check(text, path="pkg/train.py", files=files)
    else:
        refused(check, "parses", text, r"no Python 3\.[789]", path="pkg/train.py", files=files)


def test_a_file_that_is_too_new_itself_may_be_edited_in_its_own_manner(check: Callable[..., object]) -> None:
    files = {"pyproject.toml": '[project]\nrequires-python = ">=3.7"\n'}
    check("match x:\n    case 1: pass\n«match y:\n    case 1: pass\n»", files=files)


def test_a_new_file_must_compile_for_the_declared_python(check: Callable[..., object]) -> None:
    bad = NewFile(path="probe_tracking.py", text="def f(\n", reason="r", rule="t")
    assert refused(check, "parses", "a = 1\n", "does not parse", new=(bad,)).path == "probe_tracking.py"
    new = NewFile(path="probe_tracking.py", text="match x:\n    case 1: pass\n", reason="r", rule="t")
    refused(check, "parses", "a = 1\n", "no Python 3.8", new=(new,))
    later = NewFile(path="probe_tracking.py", text="return 1\n", reason="r", rule="t")
    refused(check, "parses", "a = 1\n", "does not compile", new=(later,))


FORMATS_BAD = {
    "pyproject.toml": ('[project]\ndependencies = ["a"«\n"probe"»]\n', "does not load"),
    "twice.toml": ('[a]\nx = 1\n«[a]\n»', "does not load"),
    "swallowed.toml": ('[a]\nx = 1\n«[b]\n»y = 2\n', "does not hold"),
    "conf.yaml": ("a:\n  - x\n« - y\n»", "does not load"),
    "moved.yaml": ("a:\n  x: 1\n«b:\n»  y: 2\n", "does not hold"),
    "other.yml": ("a: 1«0»\n", "does not hold"),
    "lost.yaml": ("a: [1, 2]\n«a: [1, 3]\n»", "does not load|does not hold"),
    "x.json": ('{"a": [1«, »]}', "does not load"),
    "y.json": ('{"a": {"b": 1«}, "c": {»}}', None),
    "z.json": ('{"a": {"b": 1, «"c": 3}, "d": {»"e": 2}}', "does not hold"),
    "requirements.txt": ("numpy«probe-research»", "every line"),
    "requirements/dev.in": ("num«\nprobe-research\n»py\n", "every line"),
}  # fmt: skip


@pytest.mark.parametrize("path", FORMATS_BAD)
def test_data_files_load_and_hold_what_they_held(check: Callable[..., object], path: str) -> None:
    text, message = FORMATS_BAD[path]
    if message is None:
        check(text, path=path)
    else:
        refused(check, "parses", text, message, path=path)


FORMATS_GOOD = {
    "pyproject.toml": '[project]\ndependencies = ["a"«, "probe-research"»]\n',
    "conf.yaml": "a: &x\n  - b\n«  - probe\n»c: *x\nd: pip install a« probe-research»\ne:« 1»\n---\nf: .nan\n",
    "broken.yaml": "a: {{ template }}: x\n«b: 1\n»",
    "broken.json": "{// comment\n«// more\n»}",
    "latin.json": '{"a": "é"«, "b": 1»}',
    "requirements.txt": "numpy\n«probe-research\n»",
    "requirements-dev.txt": "numpy«\nprobe-research»",
    "notes.txt": "any«thing» goes\n",
    "Dockerfile": "RUN pip install a« probe-research»\n",
}


@pytest.mark.parametrize("path", FORMATS_GOOD)
def test_data_files_that_grow_pass(check: Callable[..., object], path: str) -> None:
    check(FORMATS_GOOD[path], path=path, encoding="utf-8")


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
class TestShell:
    @pytest.mark.parametrize(
        "text", ["if true; then\n  a\n«fi; done\n»fi\n", "python a.py \\\n  --x 1«'»\n", "«export A=(\n»python b.py\n"]
    )
    @pytest.mark.parametrize("path", ["run.sh", "job.slurm"])
    def test_a_script_that_bash_does_not_take(self, check: Callable[..., object], text: str, path: str) -> None:
        refused(check, "parses", text, "no script that bash takes", path=path)

    def test_a_shebang_tells_too(self, check: Callable[..., object]) -> None:
        refused(check, "parses", "#!/usr/bin/env bash\n«fi\n»", "bash", path="run")

    def test_good_scripts_and_those_that_were_broken_before(self, check: Callable[..., object]) -> None:
        check("«export PROBE_MODE=offline\n»python a.py\n", path="run.sh")
        check("{{ template }} fi\n«export PROBE_MODE=offline\n»", path="broken.sh")

    def test_nothing_of_it_is_run(
        self, check: Callable[..., object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "env").write_text(f"touch {tmp_path}/ran\n")
        monkeypatch.setenv("BASH_ENV", str(tmp_path / "env"))
        check(f"touch {tmp_path}/ran\n«A=$(touch {tmp_path}/ran)\n»", path="run.sh")
        assert not (tmp_path / "ran").exists()


# -- 2: reversible


class TestReversible:
    """The renderer is replaced by ones that do a little more than they were asked to."""

    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            (lambda data: data.replace(b"old", b"OLD"), "does not give the original"),
            (lambda data: data + b"# more\n", "does not give the original"),
            (lambda data: data.replace(b"probe\n", b"Probe\n"), "not where it should be"),
            (lambda data: data.replace(b"import probe\n", b"") + b"import probe\n", "not where it should be"),
            (lambda data: data.replace(b"= 1  # keep", b"=  1 # keep"), "does not give the original"),
            (lambda data: data.replace(b"'\xc3\xa9'", b"'e\xcc\x81'"), "does not give the original"),
        ],
    )
    def test_a_renderer_that_does_something_else(
        self,
        check: Callable[..., object],
        monkeypatch: pytest.MonkeyPatch,
        wrong: Callable[[bytes], bytes],
        message: str,
    ) -> None:
        from instrument.repo.source import Source

        real = Source.render
        monkeypatch.setattr(Source, "render", lambda self, edits: wrong(real(self, edits)))
        refused(check, "reversible", "old = 1  # keep\n«import probe\n»x = 'é'\n", message)

    def test_the_line_is_the_originals(self, check: Callable[..., object], monkeypatch: pytest.MonkeyPatch) -> None:
        from instrument.repo.source import Source

        real = Source.render
        monkeypatch.setattr(Source, "render", lambda self, edits: real(self, edits).replace(b"c = 3", b"c = 4"))
        assert refused(check, "reversible", "a = 1\n«import probe\nimport x\n»b = 2\nc = 3\n").line == 3


# -- 3: same program


PROGRAM_BAD = {
    "before the else": ("if a:\n    b()\n«    c()\nelse:\n»    d()\n", "."),
    "statement swallowed by an if": ("«if x: »f()\n", "."),
    "statement swallowed by a block": ("if a:\n«    f()\nif b:\n»    g()\n", "."),
    "made into a definition": ("«def g(): »f()\n", "."),
    "assigned instead of returned": ("def f():\n    «x = 1; »return 1\n", None),
    "a comment over code": ("f(); «# »g()\n", "."),
    "a string over code": ("«'''»\nf()\n«'''\n»", "."),
    "a string's content": ("x = 'a«b»c'\n", "."),
    "a name": ("x = ab«c»\n", "."),
    "a name's inside": ("x = a«b»c\n", "."),
    "a number": ("x = 1«0»\n", "."),
    "a number in a list": ("x = [1«0»]\n", "."),
    "an f-string": ("x = f'{a«.b»}'\n", "."),
    "an argument's value": ("f(a«.b»)\n", "no form that is known"),
    "a called value": ("x = f«()»\n", "no form that is known"),
    "a negation": ("x = «not »f()\n", "no form that is known"),
    "a minus": ("x = «-»f()\n", "no form that is known"),
    "a condition": ("x = f()« if y else None»\n", "no form that is known"),
    "a conjunction": ("if a« and b»:\n    pass\n", "no form that is known"),
    "a disjunction": ("if a« or b»:\n    pass\n", "no form that is known"),
    "a lambda": ("x = «lambda: »f()\n", "no form that is known"),
    "an index": ("x = f()«[0]»\n", "no form that is known"),
    "an index of a tuple": ("try:\n    f()\nexcept (A, B)«[0]»:\n    pass\n", "no form that is known"),
    "an attribute": ("x = f()«.copy»\n", "no form that is known"),
    "a comparison": ("x = f()« == 1»\n", "no form that is known"),
    "a comprehension": ("x = «[»f()« for _ in y]»\n", "no form that is known"),
    "a keyword of a wrapper": ("x = «g(k=»f()«)»\n", "no form that is known"),
    "a called result": ("x = «g()(»f()«)»\n", "no form that is known"),
    "the wrong one picked": ("g = lambda m: «(»wandb.log(m)«, probe.log(m))[1]»\n", "no form that is known"),
    "one picked out of a star": ("g = lambda m: «(*a, »wandb.log(m)«)[1]»\n", "no form that is known"),
    "picked by a name": ("g = lambda m: «(»wandb.log(m)«, probe.log(m))[i]»\n", "no form that is known"),
    "a statement around": ("«(»f()«, probe.log(), »«)»\n", "."),
    "a pair": ("x = f()«, 1»\n", "no form that is known"),
    "a sum": ("x = f()« + 1»\n", "no form that is known"),
    "a longer sum": ("x = f() + g()« + 1»\n", "no form that is known"),
    "a default that is not empty": ("t = T(callbacks=«[*(»cbs« or [A()]), P()]»)\n", "no form that is known"),
    "two in one": ("x = «[»f(), g()«]»\n", "not the same"),
    "joined statements": ("x = f()«\\»\n« + »g()\n", None),
    "a positional argument": ("f(a«, b»)\n", "changes the program"),
    "a positional argument first": ("f(«b, »a)\n", "changes the program"),
    "an element that is unpacked": ("a, b = (1, 2«, 3»)\n", "changes the program"),
    "an element that is returned": ("def f():\n    return (1, 2«, 3»)\n", "changes the program"),
    "an element that is looped over": ("for x in [1, 2«, 3»]:\n    pass\n", "changes the program"),
    "more to loop over": ("for x in «[*»y«, 1]»:\n    pass\n", "no form that is known"),
    "more to unpack": ("a, b = «[*»y«, 1]»\n", "no form that is known"),
    "more arguments": ("f(*«[*»y«, 1]»)\n", "no form that is known"),
    "more to compare": ("a = b == «[*»y«, 1]»\n", "no form that is known"),
    "a list that is called": ("a = «[*»y«, 1]»(b)\n", "no form that is known"),
    "a list around a constant": ("f(a=«[»1«, P()]»)\n", "no form that is known"),
    "a wrapped exception": ("def f():\n    raise «g(»E«)»\n", "no form that is known"),
    "an element that is tested": ("x = y in (1, 2«, 3»)\n", "changes the program"),
    "an element of an index": ("x = y[1, 2«, 3»]\n", None),
    "a target": ("x = «y = »f()\n", "changes the program"),
    "an unpacked target": ("a, b«, c» = f()\n", "."),
    "a base class": ("class C(A«, B»):\n    pass\n", "changes the program"),
    "a metaclass": ("class C(A«, metaclass=M»):\n    pass\n", "changes a statement"),
    "a parameter": ("def f(a«, b=1»):\n    pass\n", "."),
    "a default": ("def f(a«=1»):\n    pass\n", "changes the program"),
    "an annotation": ("def f(a«: int»):\n    pass\n", "."),
    "a return annotation": ("def f()« -> int»:\n    pass\n", "changes the program"),
    "async": ("«async »def f():\n    pass\n", "."),
    "a decorator": ("«@probe.watch\n»def f():\n    pass\n", "decorator"),
    "a decorator among others": ("@a\n«@b\n»@c\nclass F:\n    pass\n", "decorator"),
    "between decorator and definition": ("@a\n«def g(): pass\n»def f():\n    pass\n", "."),
    "a handler": ("try:\n    f()\n«except E:\n    pass\n»except F:\n    pass\n", "ExceptHandler"),
    "a wider handler": ("try:\n    f()\nexcept «(»E«, F)»:\n    pass\n", "."),
    "a case": ("match x:\n    «case 1:\n        pass\n    »case _:\n        f()\n", None),
    "a wider case": ("match x:\n    case 1« | 2»:\n        f()\n", "."),
    "a guard": ("match x:\n    case 1« if y»:\n        f()\n", "changes the program"),
    "a filter": ("x = [i for i in y« if i»]\n", "changes the program"),
    "a second loop": ("x = [i for i in y« for j in z»]\n", "."),
    "a format": ("x = f'{a«!r»}'\n", "."),
    "a chained comparison": ("x = a < b« < c»\n", "."),
    "a star": ("f(«*»a)\n", "."),
    "a double star": ("f(«**»a)\n", "."),
    "a keyword's name": ("f(«k=»a)\n", "."),
    "a longer keyword": ("f(«k»k=a)\n", "."),
    "a raise's cause": ("def f():\n    raise E« from None»\n", "changes the program"),
    "an assertion's message": ("assert a«, b»\n", "changes the program"),
    "a global": ("def f():\n    global a«, b»\n    a = 1\n", "."),
    "a future": ("from __future__ import annotations«, generator_stop»\n", "__future__"),
    "another future": ("«from __future__ import annotations\n»x = 1\n", "__future__"),
    "a string becomes a docstring": ("«'doc'\n»x = 1\n", "docstring"),
    "a string becomes a method's docstring": (
        "class C:\n    def f(self):\n        «'doc'\n        »return 1\n",
        "docstring",
    ),
    "a docstring that is kept": ("«x = »'''Doc.'''\n", "."),
    "a docstring with more": ("'''Doc.'''« or []»\n", "."),
    "code above the docstring": ("«import probe\n»'''Doc.'''\n", "docstring"),
    "code above a function's docstring": ("def f():\n    «probe.log({})\n    »'''Doc.'''\n", "docstring"),
    "a longer docstring": ("'''Doc.«more»'''\n", "."),
    "a type comment": ("x = []«  # type: list[int]»\n", "."),
    "a return": ("def f():\n    g()\n    «return\n    »h()\n", "`return`"),
    "a return under an if": ("def f():\n    «if x: return\n    »h()\n", "`return`"),
    "a break": ("for i in x:\n    «break\n    »h()\n", "`break`"),
    "a continue": ("for i in x:\n    «if y: continue\n    »h()\n", "`continue`"),
    "a break out of an inserted loop's else": (
        "for i in x:\n    «for j in y: pass\n    else: break\n    »h()\n",
        "`break`",
    ),
    "a raise": ("«raise E\n»f()\n", "`raise`"),
    "a raise that is not caught": ("«try:\n    raise E\nexcept F:\n    pass\n»f()\n", "`raise`"),
    "an assertion": ("«assert x\n»f()\n", "`assert`"),
    "a yield": ("def f():\n    «yield 1\n    »return 2\n", "`yield`"),
    "a yield in a pair": ("def f():\n    return «(»g()«, (yield))[0]»\n", "`yield`"),
    "a name in use": ("x = 1\n«x = 2\n»print(x)\n", "«x»"),
    "a name in use further down": ("«def main(): pass\n»def main():\n    pass\n", "«main»"),
    "a name that a function reads": ("def f():\n    return probe\n«import x as probe\n»", "«probe»"),
    "an import over another module's name": ("from x import logging\n«import logging\n»", "«logging»"),
    "an import over a builtin": ("print(1)\n«import print\n»", "«print»"),
    "a name that a closure reads": ("def f():\n    «x = 1\n    »return lambda: x\n", "«x»"),
    "a builtin in use": ("«list = []\n»x = list(y)\n", "«list»"),
    "a parameter in use": ("def f(probe):\n    «import probe\n    »return probe\n", "«probe»"),
    "a name that is declared global": ("def f():\n    global run\n    «run = 1\n    »\n", "«run»"),
    "a name that becomes global": ("run = 1\ndef f():\n    «global run\n    run = 2\n    »g()\n", "«run»"),
    "an import under another's name": (
        "import wandb as probe\n«import probe_tracking as probe\n»probe.init()\n",
        "«probe»",
    ),
    "an alias in use": ("from a import x\nfrom b import y«, z as x»\n", "«x»"),
    "a loop variable": ("for i in a:\n    «for i in b: pass\n    »f(i)\n", "«i»"),
    "a with variable": ("run = 1\nwith a as b«, c as run»:\n    f(run)\n", "«run»"),
    "a caught error's name": ("e = 1\n«try:\n    f()\nexcept E as e:\n    pass\n»g(e)\n", "«e»"),
    "a walrus": ("m = 1\nx = f(«(m := »g()«)»)\n", "«m»"),
    "a walrus in an element": ("m = 1\nx = [f()«, (m := 2)»]\n", "«m»"),
    "a deleted name": ("x = 1\n«del x\n»", "«x»"),
    "a kept result under a used name": ("run = 1\n«run = »wandb.init()\n", "«run»"),
    "a star import": ("«from probe import *\n»f()\n", "import \\*"),
    "a match capture": ("x = 1\n«match y:\n    case {'a': x, **rest}: pass\n»f(x)\n", "«x»"),
}


@pytest.mark.parametrize(("text", "message"), PROGRAM_BAD.values(), ids=PROGRAM_BAD)
def test_an_edit_that_changes_the_program(check: Callable[..., object], text: str, message: str | None) -> None:
    """`None`: refused by whichever proof; a message: by this one."""
    if message is None and text.startswith("def f():\n    «x = 1; »"):
        check(text)
    elif message is None:
        with pytest.raises(ProofError):
            check(text)
    else:
        refused(check, "same program", text, message, files={"setup.cfg": "[options]\npython_requires = >=3.10\n"})


MOVED_BAD = {
    "not assigned": ("x = 1\nlog(«f()⇒m»)\n", "not assigned"),
    "assigned after": ("log(«f()⇒m»)\n«m = f()\n»", "not assigned"),
    "another expression": ("«m = g()\n»log(«f()⇒m»)\n", "not the same"),
    "the same with another constant": ("«m = f(1.0)\n»log(«f(1)⇒m»)\n", "not the same"),
    "in another block": ("«m = f()\n»if a:\n    log(«f()⇒m»)\n", "not assigned"),
    "across a statement": ("«m = f()\n»g()\nlog(«f()⇒m»)\n", "not assigned"),
    "under an inserted if": ("«if a:\n    m = f()\n»log(«f()⇒m»)\n", "changed between"),
    "unpacked": ("«m, n = f()\n»log(«f()⇒m»)\n", "changed between"),
    "two targets": ("«m = n = f()\n»log(«f()⇒m»)\n", "changed between"),
    "changed in between": ("«m = f()\nm = 3\n»log(«f()⇒m»)\n", "not the same"),
    "added to in between": ("«m = f()\nm['a'] = 1\n»log(«f()⇒m»)\n", "changed between"),
    "updated in between": ("«m = f()\nm.update(a=1)\n»log(«f()⇒m»)\n", "changed between"),
    "deleted in between": ("«m = f()\ndel m.a\n»log(«f()⇒m»)\n", "changed between"),
    "swapped": ("«n = g()\nm = f()\n»log(«f()⇒m», «g()⇒n»)\n", "in another order"),
    "swapped with keywords": ("«m = f()\nn = g()\n»log(a=«f()⇒m», *«g()⇒n»)\n", "in another order"),
    "before a call": ("«n = g()\n»log(f(), «g()⇒n»)\n", "evaluated before «f\\(\\)»"),
    "before the receiver": ("«n = g()\n»get().log(«g()⇒n»)\n", "evaluated before «get\\(\\)»"),
    "before an operator": ("«n = g()\n»log(a + b, «g()⇒n»)\n", "evaluated before"),
    "before an f-string": ("«n = g()\n»log(f'{a}', «g()⇒n»)\n", "evaluated before"),
    "before an index": ("«n = g()\n»log(a[b], «g()⇒n»)\n", "evaluated before"),
    "before a spread": ("«n = g()\n»log({**a}, «g()⇒n»)\n", "evaluated before"),
    "before an assignment expression": ("«n = g()\n»log((b := a), «g()⇒n»)\n", "evaluated before"),
    "before a comprehension": ("«n = g()\n»log([i for i in a], «g()⇒n»)\n", "evaluated before"),
    "a while test": ("«m = f()\n»while «f()⇒m»:\n    pass\n", "exactly once"),
    "an elif": ("if a:\n    pass\n«m = f()\n»elif «f()⇒m»:\n    pass\n", None),
    "the right of an and": ("«m = f()\n»x = a and «f()⇒m»\n", "exactly once|evaluated before"),
    "a branch": ("«m = f()\n»x = «f()⇒m» if a else b\n", "exactly once|evaluated before"),
    "a lambda": ("«m = f()\n»x = lambda: «f()⇒m»\n", "exactly once|evaluated before"),
    "a comprehension": ("«m = f()\n»x = [«f()⇒m» for i in y]\n", "exactly once|evaluated before"),
    "a chained comparison": ("«m = f()\n»x = a < b < «f()⇒m»\n", "exactly once|evaluated before"),
    "an assertion": ("«m = f()\n»assert «f()⇒m»\n", "exactly once"),
    "a default": ("«m = f()\n»def g(a=«f()⇒m»):\n    pass\n", "exactly once"),
    "a decorator": ("«m = f()\n»@«f()⇒m»\ndef g():\n    pass\n", None),
    "the second with": ("«m = f()\n»with a, «f()⇒m»:\n    pass\n", "exactly once"),
    "a target": ("«m = f()\n»x[«f()⇒m»] = g()\n", "evaluated before"),
    "no name": ("«m = f()\n»log(«f()⇒m.x»)\n", "is no name there"),
    "a name in use": ("m = 1\n«m = f()\n»log(«f()⇒m»)\n", "«m»"),
    "a walrus in use": ("m = 1\ng = lambda: (m, «(probe.log((m := f())), »wandb.log(«f()⇒m»)«)[1]»)\n", "«m»"),
    "a walrus not always evaluated": ("g = lambda: «(a and (m := f()), »wandb.log(«f()⇒m»)«)[1]»\n", "not assigned"),
    "walruses swapped": (
        "g = lambda: «(probe.log((s := k()), (m := f())), »wandb.log(«f()⇒m», step=«k()⇒s»)«)[1]»\n", "another order"
    ),
    "a walrus with another value": ("g = lambda: «(probe.log((m := h())), »wandb.log(«f()⇒m»)«)[1]»\n", "not the same"),
    "a walrus before a call": ("g = lambda: «(probe.log((m := f())), »get().log(«f()⇒m»)«)[1]»\n", "evaluated before"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "message"), MOVED_BAD.values(), ids=MOVED_BAD)
def test_a_move_that_changes_the_program(check: Callable[..., object], text: str, message: str | None) -> None:
    if message is None:
        with pytest.raises(ProofError):
            check(text)
    else:
        refused(check, "same program", text, message)


@pytest.mark.parametrize(
    "text",
    [
        "f(«None→[P()]»)\nx = ab«c»\n",
        "if a:\n    f(«None→1»)\n    x = ab«c»\n",
        "with «a→b»:\n    x = ab«c»\n",
        "with «a→b»:\n    f()\n    «g()→»\n    x = 1«2»\n",
        "«f()→if a:»\n    \ng()\nx = 1«0»\n",
    ],
)
def test_what_is_around_a_replaced_span_must_be_the_same(check: Callable[..., object], text: str) -> None:
    with pytest.raises(ProofError):
        check(text)


def test_the_line_that_is_told_is_the_originals(check: Callable[..., object]) -> None:
    text = "a = 1\n«import x\nimport y\n»b = 2\ndef f():\n    g()\n    «return\n    »h()\n"
    assert refused(check, "same program", text).line == 5
    assert refused(check, "same program", "a = 1\n«import x\n\n\n»b = 2\nc = d«e»\nf = 1\n").line == 3


def test_deep_and_long_sources_end(check: Callable[..., object]) -> None:
    check("x = " + " + ".join(["a"] * 900) + "\n«import probe\n»")
    check("\n".join(f"f{n}({n})«\nprobe.log({n})»" for n in range(400)) + "\n")


# -- 4: idempotent


class TestIdempotent:
    def test_the_result_is_planned_on_as_it_would_be(self, check: Callable[..., object]) -> None:
        seen = []

        def replan(repo: Repository) -> Plan:
            seen.append((repo.read("train.py"), repo.read("new.py"), repo.exists("new.py"), "new.py" in repo.files))
            return Plan(root=".")

        check(
            "a = 1\n«import probe\n»",
            new=(NewFile(path="new.py", text="n = 1\n", reason="r", rule="t"),),
            replan=replan,
        )
        assert seen == [(b"a = 1\nimport probe\n", b"n = 1\n", True, True)]

    def test_an_edit_again(self, check: Callable[..., object]) -> None:
        def replan(repo: Repository) -> Plan:
            return Plan(
                root=".", edits=[Edit(path="train.py", start=6, end=6, text="import probe\n", reason="why", rule="t")]
            )

        error = refused(check, "idempotent", "a = 1\n«import probe\n»", "once more: why", replan=replan)
        assert (error.path, error.line) == ("train.py", 2)

    def test_an_edit_in_another_file(self, check: Callable[..., object]) -> None:
        def replan(repo: Repository) -> Plan:
            return Plan(root=".", edits=[Edit(path="b.py", start=0, end=0, text="x", reason="why", rule="t")])

        error = refused(
            check, "idempotent", "a = 1\n«import probe\n»", "once more", replan=replan, files={"b.py": "b = 1\n"}
        )
        assert error.path == "b.py"

    def test_a_new_file(self, check: Callable[..., object]) -> None:
        def replan(repo: Repository) -> Plan:
            return Plan(root=".", new_files=[NewFile(path="n.py", text="x", reason="why", rule="t")])

        assert (
            refused(check, "idempotent", "a = 1\n«import probe\n»", "would create a file: why", replan=replan).path
            == "n.py"
        )

    def test_a_plan_that_changes_nothing_is_not_planned_again(self, check: Callable[..., object]) -> None:
        def replan(repo: Repository) -> Plan:
            raise AssertionError

        passed = check("a = 1\n", replan=replan)
        assert passed == [Proof(name="idempotent", path=None)]


# -- 5: same form


FORM_BAD = {
    "a cookie": ("«# coding: latin-1\n»a = 1\n", "encoding would change"),
    "no cookie any more": ("«#\n\n»# coding: latin-1\na = 1\n", "encoding would change"),
    "an unknown cookie": ("«# coding: nonsense\n»a = 1\n", "unusable encoding"),
    "crlf in lf": ("a = 1\n«import probe\r\n»b = 2\n", "another kind"),
    "lf in crlf": ("a = 1\r\n«import probe\n»b = 2\r\n", "another kind"),
    "cr in lf": ("a = 1\n«import probe\r»b = 2\n", "another kind"),
    "two kinds in a file of one line": ("a = 1«\nb = 2\r\nc = 3»", "another kind"),
    "final newline gained": ("a = 1\nb = 2«\nimport probe\n»", "final newline"),
    "final newline lost": ("a = 1\n«import probe»", "final newline"),
    "byte-order mark gained": ("«\ufeff»a = 1\n", "byte-order mark"),
}


@pytest.mark.parametrize(("text", "message"), FORM_BAD.values(), ids=FORM_BAD)
def test_an_edit_that_changes_the_form(check: Callable[..., object], text: str, message: str) -> None:
    refused(check, "same form", text, message)


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("# coding: latin-1\na = 'é'\n«import probe\n»", "latin-1"),
        ("# coding: cp1252\na = '€'\n«import probe\n»", "cp1252"),
        ("# -*- coding: shift_jis -*-\na = '訓練'\nf(a«, k=1»)\n", "shift_jis"),
        ("a = 1\nb = 2\r\n«import probe\r\n»c = 3\rd = 4\n", "utf-8"),
        ("a = 1«\nimport probe»", "utf-8"),
    ],
)
def test_odd_forms_that_are_kept_pass(check: Callable[..., object], text: str, encoding: str) -> None:
    check(text, encoding=encoding)


def test_a_byte_order_mark_is_kept(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"\xef\xbb\xbfa = '\xc3\xa9'\n")
    edits = [Edit(path="a.py", start=0, end=0, text="import probe\n", reason="r", rule="t")]
    assert prove(Repository(tmp_path), Plan(root=".", edits=edits), nothing)


def test_a_character_that_the_encoding_does_not_have_is_refused(check: Callable[..., object]) -> None:
    with pytest.raises(InstrumentError, match="«訓» can't be written in its encoding"):
        check("# coding: latin-1\na = 'é'\n«b = '訓'\n»", encoding="latin-1")


@pytest.mark.skipif(os.name == "nt", reason="links are POSIX")
class TestPlaces:
    def test_a_symbolic_link(self, tmp_path: Path) -> None:
        (tmp_path / "real.py").write_bytes(b"a = 1\n")
        (tmp_path / "train.py").symlink_to("real.py")
        plan = Plan(root=".", edits=[Edit(path="train.py", start=0, end=0, text="x = 1\n", reason="r", rule="t")])
        with pytest.raises(ProofError, match="is a symbolic link") as caught:
            prove(Repository(tmp_path), plan, nothing)
        assert caught.value.proof == "same form"

    def test_a_folder_that_leads_out(self, tmp_path: Path) -> None:
        (tmp_path / "repo").mkdir()
        (tmp_path / "outside").mkdir()
        (tmp_path / "repo/pkg").symlink_to(tmp_path / "outside")
        plan = Plan(root=".", new_files=[NewFile(path="pkg/probe_tracking.py", text="x = 1\n", reason="r", rule="t")])
        with pytest.raises(ProofError, match="leaves the repository"):
            prove(Repository(tmp_path / "repo"), plan, nothing)

    @pytest.mark.parametrize("path", ["../x.py", "/tmp/x.py", ".git/hooks/pre-commit.py"])
    def test_a_path_that_leads_out(self, tmp_path: Path, path: str) -> None:
        (tmp_path / "repo").mkdir()
        plan = Plan(root=".", new_files=[NewFile(path=path, text="x = 1\n", reason="r", rule="t")])
        with pytest.raises(ProofError) as caught:
            prove(Repository(tmp_path / "repo"), plan, nothing)
        assert caught.value.proof == "same form"

    def test_a_file_that_git_ignores(self, tmp_path: Path) -> None:
        (tmp_path / ".gitignore").write_text("local.py\n")
        (tmp_path / "local.py").write_bytes(b"a = 1\n")
        plan = Plan(root=".", edits=[Edit(path="local.py", start=0, end=0, text="x = 1\n", reason="r", rule="t")])
        with pytest.raises(ProofError, match="git may ignore it"):
            prove(Repository(tmp_path), plan, nothing)


# -- 6: notebooks


def notebook(*cells: str, **more: object) -> dict[str, object]:
    code = [
        {
            "cell_type": "code",
            "execution_count": n,
            "id": f"c{n}",
            "metadata": {},
            "outputs": [],
            "source": text.splitlines(True),
        }
        for n, text in enumerate(cells)
    ]
    return {"cells": code, "metadata": {}, "nbformat": 4, "nbformat_minor": 5, **more}


class TestNotebooks:
    @pytest.fixture
    def prove_at(self, tmp_path: Path) -> Callable[..., list[Proof]]:
        def run(document: dict[str, object], *marks: tuple[str, str], indent: int = 1) -> list[Proof]:
            """Each mark: a text of the program, and what is inserted behind it."""
            (tmp_path / "n.ipynb").write_text(json.dumps(document, indent=indent, ensure_ascii=False) + "\n")
            repo = Repository(tmp_path)
            text = repo.source("n.ipynb").text
            edits = [
                Edit(path="n.ipynb", start=(at := text.index(mark) + len(mark)), end=at, text=new, reason="r", rule="t")
                for mark, new in marks
            ]
            return prove(repo, Plan(root=".", edits=edits), nothing)

        return run

    def test_edits_in_cells_pass(self, prove_at: Callable[..., list[Proof]]) -> None:
        made = notebook("%matplotlib inline\nimport wandb\n!pip install x", "wandb.log({'a': 1})", "await f()\n")
        passed = prove_at(
            made, ("import wandb", "\nimport probe"), ("{'a': 1})", "\nprobe.log({'a': 1})"), ("f()\n", "g()\n")
        )
        assert {proof.name for proof in passed} == set(NAMES)

    def test_a_line_at_the_end_of_a_cell_and_in_an_empty_one(self, prove_at: Callable[..., list[Proof]]) -> None:
        prove_at(notebook("a = 1", "b = 2"), ("a = 1\n", "c = 3\n"))
        prove_at(notebook("a = 1\r\nb = 1", "b = 2"), ("b = 1\n", "c = 3\r\n"))
        prove_at(notebook("", "b = 2"), ("\n", "c = 3\n"))

    @pytest.mark.parametrize(
        ("mark", "new", "proof"),
        [
            ("a = 1", "(", "parses"),
            ("a = 1", "\nreturn 1", "parses"),
            ("a = 1", "0", "same program"),
            ("f(a", ".b", "same program"),
            ("a = 1", "\nf = 1", "same program"),
        ],
    )
    def test_edits_that_break_the_program(
        self, prove_at: Callable[..., list[Proof]], mark: str, new: str, proof: str
    ) -> None:
        with pytest.raises(ProofError) as caught:
            prove_at(notebook("a = 1", "f(a)"), (mark, new))
        assert caught.value.proof == proof

    @pytest.mark.parametrize(
        ("wrong", "proof"),
        [
            (lambda text: text.replace('"execution_count": 1', '"execution_count": null'), "notebook"),
            (lambda text: text.replace('"id": "c1"', '"id": "zz"'), "notebook"),
            (lambda text: text.replace('"x": 1.10', '"x": 1.1'), "notebook"),
            (lambda text: text.replace('"metadata": {}, "nbformat": 4', '"nbformat": 4, "metadata": {}'), "notebook"),
            (lambda text: text.replace("\\u00e9", "é"), "notebook"),
            (lambda text: text.replace('"f(a)"', '"f(b)"'), "reversible"),
            (lambda text: json.dumps(json.loads(text), indent=2) + "\n", "notebook"),
            (
                lambda text: text.replace(
                    '"cells": [', '"cells": [{"cell_type": "code", "execution_count": null, "id": "n", "metadata": {}, '
                    '"outputs": [], "source": []}, '
                ),
                "reversible",
            ),
            (lambda text: text.replace('"nbformat_minor": 5', '"nbformat_minor": 4'), "notebook"),
        ],
    )  # fmt: skip
    def test_a_renderer_that_touches_more_than_the_cell(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: Callable[[str], str], proof: str
    ) -> None:
        from instrument.repo.notebook import NotebookSource

        text = json.dumps(notebook("a = 1", "f(a)", extra={"x": "REAL", "name": "é"}))
        (tmp_path / "n.ipynb").write_text(text.replace('"REAL"', "1.10") + "\n")
        real = NotebookSource.render

        def render(self: NotebookSource, edits: list[Edit]) -> bytes:
            made = real(self, edits).decode()
            changed = wrong(made)
            assert changed != made
            return changed.encode()

        monkeypatch.setattr(NotebookSource, "render", render)
        edits = [Edit(path="n.ipynb", start=5, end=5, text="\nb = 2", reason="r", rule="t")]
        with pytest.raises(ProofError) as caught:
            prove(Repository(tmp_path), Plan(root=".", edits=edits), nothing)
        assert caught.value.proof == proof
