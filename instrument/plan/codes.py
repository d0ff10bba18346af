"""What each code of a note and of an error means, and what to do about it where the note itself does not say.

Programs and agents act on codes, so they are stable: a code is never given another meaning. A rule that uses a code of
its own says both in the note; the codes here are those that several rules share, or whose note has no next step.
`docs/codes.md` is written from these and from the notes: `BLESS=1 pytest tests/test_codes.py`.
"""

from __future__ import annotations

from typing import NamedTuple


class Meaning(NamedTuple):
    """A sentence for a code, and the next step where the note that carries it names none."""

    means: str
    next: str = ""


_AGAIN = "then `instrument check`"

#: A person, or who acts for one, decides; until then Probe does not get what is at this place.
QUESTIONS: dict[str, Meaning] = {
    "callback-by-hand": Meaning(
        "A trainer with callbacks is built or started where its arguments can't be read, or may not take one.",
        f"add the callback of probe_tracking that the note names by hand, {_AGAIN}",
    ),
    "dependency-by-hand": Meaning(
        "The tracker is declared in a form that is not changed by a tool.",
        f"declare probe-research beside it by hand, {_AGAIN}",
    ),
    "dynamic-axis": Meaning(
        "`define_metric` gets a name or an axis that is computed: Probe plots these keys against the call's own step.",
        "leave it so, or write the names out and run `instrument apply` again",
    ),
    "handed-on": Meaning(
        "A tracker's logging function is passed on as a value; the calls that it gets elsewhere are not seen.",
        f"send the metrics to Probe where they are logged, or pass on a function that does both, {_AGAIN}",
    ),
    "hidden-arguments": Meaning(
        "An Accelerator's arguments are passed on by `**`, so that its trackers can't be seen.",
        f"add ProbeTracker() of probe_tracking to `log_with` by hand, {_AGAIN}",
    ),
    "install-by-hand": Meaning(
        "An install command has the tracker but can't take another package (a lock, an index, `--no-deps`).",
        "install probe-research where this environment is built",
    ),
    "not-wrapped": Meaning(
        "`--exec` can't wrap this command: another program runs it, which knows no function of the shell.",
        "put `probe exec --` before the trainer by hand",
    ),
    "locked-file": Meaning(
        "A locked requirements file has the tracker; locks are written by their own tool.",
        "add probe-research to the file it is made from and lock again",
    ),
    "logger-by-hand": Meaning(
        "A Lightning Trainer gets its logger where ProbeLogger can't be added.",
        f"add ProbeLogger() as the last logger by hand, {_AGAIN}",
    ),
    "logging-off": Meaning(
        "A Lightning Trainer is told to log nowhere (`logger=False`): Probe is left off too.",
        "ask whether this Trainer should be recorded at all; if so give it a logger",
    ),
    "miles-actors": Meaning(
        "Miles' own Ray actors log from installed code with a registry of their own, which is not Probe's yet.",
        "register Probe's backend in the actors' process as well, before they read their registry",
    ),
    "mixed-data": Meaning(
        "One function shows the metrics of several sets of data, which would be mixed under one key.",
        "print or log them with the name of the data, then run `instrument apply` again",
    ),
    "no-function": Meaning(
        "Ray's report is called outside of a function that Ray runs, so that no run can be opened around it.",
        f"open the run in the function that Ray runs by hand, {_AGAIN}",
    ),
    "no-place": Meaning(
        "The call stands inside an expression: no statement can stand beside it.",
        "write the call as a statement of its own, then run `instrument apply` again",
    ),
    "no-run-opened": Meaning(
        "Metrics are sent here, but no place in this repository opens the tracker's run.",
        "find who opens the run (a launcher, an installed package) and open Probe's beside it: probe.init(...)",
    ),
    "no-step": Meaning(
        "A metric without a step joins a run that a framework's callback steps: it would land anywhere on the axis.",
        "give it a step (the trainer's global_step), then run `instrument apply` again",
    ),
    "not-understood": Meaning(
        "A script or file has syntax that can't be taken apart with certainty, so it is left alone.",
        "do by hand what the message names: hand PROBE_TOKEN on, or install probe-research",
    ),
    "open-by-hand": Meaning(
        "The tracker's run is opened inside an expression, or in a function without a place for Probe's.",
        "write the call as a statement of its own, then run `instrument apply` again",
    ),
    "past-the-trackers": Meaning(
        "In a framework with trackers of its own, this call goes straight to W&B and names no step.",
        "send it with the framework's own log function",
    ),
    "register-by-hand": Meaning(
        "Probe's backend must be registered right here, where no statement can stand.",
        f"add the line that the message gives by hand, {_AGAIN}",
    ),
    "result-not-kept": Meaning(
        "RLlib's `train()` is called without keeping its result, or on an algorithm that is built elsewhere.",
        "keep it (`result = algo.train()`), then run `instrument apply` again",
    ),
    "second-writer": Meaning(
        "A second SummaryWriter is opened in the same place: its scalars go into the run of the first.",
        "leave it so, or give each its own run by hand: probe.init(...) before each",
    ),
    "synced-from-tensorboard": Meaning(
        "W&B reads a framework's TensorBoard files (`sync_tensorboard=True`); there is no call to mirror.",
        "give the framework a callback or logger that calls probe.log, and run `instrument check`",
    ),
    "token-not-given": Meaning(
        "A process that records is started with another environment than this one, and nothing hands PROBE_TOKEN to it.",
        "hand PROBE_TOKEN on by name where it is started; never write its value",
    ),
    "token-not-forwarded": Meaning(
        "A tracker's credential is handed to a process here, and PROBE_TOKEN could not be added in the same way.",
        "hand PROBE_TOKEN on by name in the same place; never write its value",
    ),
    "trackers-not-started": Meaning(
        "Accelerate is given `log_with`, but `init_trackers` is never called: it logs nowhere.",
        "call accelerator.init_trackers(...), then run `instrument apply` again",
    ),
    "trainable-not-a-function": Meaning(
        "What Ray Tune runs is no function that can be seen here (a class, an installed trainable).",
        "open a run in the trainable by hand, one a trial",
    ),
    "several-functions": Meaning(
        "One call stands for several loggers in turn, so that a row of it is the tracker's only at times.",
        "log inside the loggers, or give the call a step, and run `instrument apply` again",
    ),
    "unreadable-call": Meaning(
        "The arguments of a logging call are passed on by `*` or `**`.",
        "name the metrics (and the step) in the call, then run `instrument apply` again",
    ),
    "which-process": Meaning(
        "A loop without a tracker runs in several processes, and which of them should record can't be seen.",
        "ask which rank reports, then open the run there by hand: probe.init(...) above the loop, probe.log(...) in it",
    ),
}

#: It can't be done safely; the files named are left as they are.
REFUSALS: dict[str, Meaning] = {
    "heredoc": Meaning(
        "Python stands in a heredoc of a shell script, whose quoting decides what Python sees.",
        "move the program into a .py file that the script runs, then run `instrument apply` again",
    ),
    "probe-shadowed": Meaning(
        "A module or folder of the repository is called `probe` and would be imported in place of the SDK.",
        "ask whether it may be renamed; rename it and its imports, then run `instrument apply` again",
    ),
}

#: It is done, or left, and a person should know something about it.
WARNINGS: dict[str, Meaning] = {
    "class-by-name": Meaning(
        "A YAML file names a class of the SDK: without probe-research the trainer can't be built.",
        "pip install probe-research, wherever this file is read",
    ),
    "module-by-name": Meaning(
        "A YAML file names what is in probe_tracking.py, which is imported from the folder that training is started in.",
        "start training in the folder that has probe_tracking.py, as before",
    ),
    "follows-flag": Meaning(
        "The tracker runs only with a flag that is off by default, and Probe follows it.",
        "switch the flag on to record; to record without it, move Probe's calls out from under it by hand",
    ),
    "import-after-run": Meaning(
        "Code can't be edited (an installed program, driven by YAML), or was asked to stay: the curves are imported after the run.",
        "after training: instrument import PATH --run",
    ),
    "not-parsed": Meaning(
        "A file does not decode or parse and is left alone.", "fix the file, or leave it out with --exclude"
    ),
    "opened-twice": Meaning(
        "The tracker opens two runs for one training (by hand and by the framework); Probe opens one.",
        "drop one of the two",
    ),
    "workers-import": Meaning(
        "Ray's workers must be able to import the added probe_tracking module.",
        "on several machines, have the folder in the job's working_dir",
    ),
}

#: For the record.
INFOS: dict[str, Meaning] = {
    "give-the-token": Meaning("PROBE_TOKEN is named in a manifest; whoever deploys gives it a value."),
    "lock-file": Meaning(
        "A lock file is left as it is and does not have probe-research yet; the note names the command."
    ),
    "miles-queue": Meaning("In Miles every process queues its rows in a folder and the driver alone sends them."),
    "miles-relaunch": Meaning("A Miles job that is relaunched under the same id goes on in the same run."),
    "no-run": Meaning("A tracker is used, for downloads or queries, but no run is opened and nothing is logged."),
    "other-kernel": Meaning("A notebook's kernel is not Python; it is left alone."),
    "package-not-declared": Meaning(
        "No file of the repository installs the tracker, so none installs the SDK.",
        "pip install probe-research, where the trainer runs",
    ),
    "skipped-generated": Meaning("A generated or built file has a tracker; it is left alone."),
    "skipped-tests": Meaning("A test has a tracker; it is left alone."),
    "skipped-vendored": Meaning("Third-party code has a tracker; it is left alone."),
}

#: Exit code 2: a command could not do it, and nothing was written.
ERRORS: dict[str, Meaning] = {
    "bad-plan": Meaning("The file given to `--plan` is no plan of this version.", "instrument diff PATH --plan FILE"),
    "busy": Meaning("Another apply, undo or import is at work.", "wait for it to end"),
    "changed-since-apply": Meaning(
        "A file was changed after the apply that is to be taken back: undoing would lose that work.",
        "take the change back by hand (git diff), or restore from the copies that the hint names",
    ),
    "changed-since-plan": Meaning(
        "A file is not what the plan was made on.", "make the plan again: instrument diff PATH --plan FILE"
    ),
    "conflict": Meaning("Two edits want the same text, or a file to be added is there already.", "see the hint"),
    "could-not": Meaning("Anything else: the message says what.", "see the hint"),
    "dirty-tree": Meaning(
        "A file that would be edited has changes that git does not hold.",
        "ask: commit or stash them first, or give --allow-dirty (undo restores the bytes as they were before apply)",
    ),
    "edited-copy": Meaning("The installed skill was edited by a person; it was left alone.", "--force replaces it"),
    "internal": Meaning("A fault of this tool; nothing was written.", "report it, with what --verbose says"),
    "no-record": Meaning(
        "The path given to `audit --record` holds no record of a run that a reader knows.",
        "give the folder that Probe's outbox, `wandb/`, `mlruns/` or the event files are in",
    ),
    "not-interactive": Meaning(
        "`--interactive` asks on a terminal, and there is none, or the other options say not to ask.",
        "leave out --yes and --json, or take some of the files with --only",
    ),
    "no-target": Meaning("The path that was given does not exist.", "give the trainer's folder"),
    "no-sdk": Meaning("probe-research is not installed beside this tool.", 'pip install "probe-research>=0.337"'),
    "not-imported": Meaning("The SDK could not take a run that was to be imported.", "see the message"),
    "nothing-to-undo": Meaning("No apply is on record below this path."),
    "proof-failed": Meaning(
        "The edited result failed a proof, so nothing was written: a fault of this tool.",
        "leave the file out with --exclude and report it",
    ),
    "sample-metric": Meaning("A --sample-metric is not NAME=DOTTED.PATH.", "see the hint"),
    "settings": Meaning("[tool.instrument] in pyproject.toml has a mistake.", "correct the key that is named"),
    "unknown-rule": Meaning("There is no rule of the name given to --select or --ignore.", "see the hint"),
    "unreadable": Meaning("A file could not be decoded or parsed.", "fix it, or leave it out with --exclude"),
}

NOTES: dict[str, Meaning] = {**QUESTIONS, **REFUSALS, **WARNINGS, **INFOS}


def next_of(code: str) -> str:
    """The next step for a note's code, or "" where there is none."""
    return NOTES[code].next if code in NOTES else ""
