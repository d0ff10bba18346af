"""`--exec`: the command of a trainer that has no code here is put in `probe exec`, which opens the run around it.

probe-research 0.337: `probe exec` keeps the command's exit code and hands PROBE_RUN_ID on, so that `probe.init()` inside
joins; but without a token, a server or the program itself the command never runs. So the script gets a function that
runs the command as before where the wrapped one was not started, and says so. It can tell by a file that the wrapped
command removes as its first act: nothing is ever run twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from instrument.launch._common import ORDER, record, scripts
from instrument.launch._shell import Script, read_script
from instrument.launch._text import Insertion, Left, Located, asked, inserted, newline_at
from instrument.launch.yaml_trainer import NEEDLES, trainer
from instrument.plan.rules import Rule

if TYPE_CHECKING:
    from instrument.plan.context import Context

FUNCTION = """\
# Records the command as a run of Probe's; where that can't be, the command runs as before.
probe_exec() {
  local waiting code=0
  waiting=$(mktemp) || { "$@"; return; }
  PROBE_INIT_TIMEOUT_SEC="${PROBE_INIT_TIMEOUT_SEC:-10}" PROBE_AUTO_LOGIN="${PROBE_AUTO_LOGIN:-0}" \\
    probe exec -- sh -c 'rm "$0" && exec "$@"' "$waiting" "$@" || code=$?
  if [ ! -e "$waiting" ]; then return "$code"; fi
  rm -f "$waiting"
  echo "probe exec did not start the command (exit code $code); it runs without Probe" >&2
  "$@"
}

"""
#: What may stand before the command as it is: the function is the shell's, other programs do not know it.
_BUILTINS = frozenset(("exec", "command", "time", "nohup", "timeout", "env", "xargs", "sudo", "eval"))
_REMOTE = frozenset(("docker", "podman", "kubectl", "ssh", "sbatch", "sky", "ray", "modal", "enroot", "apptainer"))


def plan(ctx: Context) -> None:
    """Wrap what `yaml_trainer` found, if that was asked for."""
    if not ctx.options.exec:
        return
    for path, script in scripts(ctx, *NEEDLES):
        record(ctx, RULE.name, path, _checked(script), applicability="review")


def _checked(script: Script) -> Located:
    """Questions only where the grammar does not take the whole of the script, before or after."""
    located = _locate(script)
    changed = read_script(inserted(script.text, located.insertions))
    if located.insertions and (script.errors or changed.errors or _locate(changed).insertions):
        return asked(located)
    return located


def _locate(script: Script) -> Located:
    located = Located()
    text = script.text
    for command in script.commands:
        if command.name == "probe_exec" or command.doubtful or trainer(command) is None:
            continue
        if command.name in _BUILTINS | _REMOTE:
            message = f"this command runs under {command.name}, which can't call the function that `--exec` adds"
            next_ = "put `probe exec --` before the trainer by hand"
            located.left.append(Left(command.words[0].start, "not-wrapped", message, next_))
            continue
        what = "run the trainer in `probe exec`, which opens a run around it and keeps its exit code"
        located.insertions.append(Insertion(command.words[0].start, "probe_exec ", what))
    if located.insertions and "probe_exec()" not in text:
        what = "run the trainer without Probe, and say so, where `probe exec` can't start it"
        newline = newline_at(text, 0)
        located.insertions.insert(
            0, Insertion(_top(text), FUNCTION.replace("\n", newline), what)
        )  # may be at one offset
    return located


def _top(text: str) -> int:
    """After the comments at the head, where sbatch's directives stand."""
    at = 0
    for line in text.splitlines(keepends=True):
        if line.strip() and not line.startswith("#"):
            break
        at += len(line)
    return at


RULE = Rule(name="exec_wrap", title="Commands in `probe exec`", needles=NEEDLES, plan=plan, order=ORDER + 20)
