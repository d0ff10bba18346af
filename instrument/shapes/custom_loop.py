"""A training loop that no tracker records: torch, JAX, numpy and scikit-learn loops, episodes, home-made loggers.

Acts only where no tracker and no framework of the repository's own code records anything. A run is opened above the
loop with the script's own settings, what the loop prints, shows in its progress bar or keeps is sent where it does so,
and the run is closed below. Edits are for a person to review: what a training loop is, is judged from its updates of
parameters (an optimizer's step, gradients, `w -= lr * grad`, `partial_fit`), else from names and metrics together.

It has no needles: it looks itself, after all the others, and only if they found nothing. Its order is after shapes and
trackers and before the launch rules, which act on what is covered.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from instrument.plan.loops.keys import settle
from instrument.plan.loops.ranks import guards_of, is_distributed, is_spawned, is_visible, stands_under
from instrument.plan.loops.runs import Run, Runs
from instrument.plan.loops.steps import choose
from instrument.plan.loops.units import Code
from instrument.plan.loops.writing import RULE as NAME
from instrument.plan.loops.writing import Writer, bindable
from instrument.plan.probe_calls import ProbeCalls
from instrument.plan.rules import Rule
from instrument.shapes._building import ask

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.plan.loops.runs import Place
    from instrument.plan.model import Site
    from instrument.repo.names import Module

#: What a file with a training loop, or with a part of one, contains.
_NEEDLES = (
    b"backward(", b"optim", b"epoch", b"loss", b"partial_fit", b"reward", b"train", b"grad", b"accuracy", b"score", b"json.dumps",
    b"writerow",
)  # fmt: skip
#: Of these, what the file with the loop itself contains.
_SIGNS = re.compile(rb"backward\(|optim|epoch|partial_fit|loss|reward|train|grad")
#: A line that begins a loop; in a notebook's JSON a quote or an escaped line end stands before it.
_LOOP = re.compile(rb"(?:^|\"|\\n)[ \t]*\"?[ \t]*(?:async[ \t]+)?(?:for|while)\b", re.MULTILINE)
#: Trackers by import, whether or not there is a rule for them.
_TRACKERS = re.compile(
    rb"^[ \t]*(?:import|from)[ \t]+(?:wandb|mlflow|comet_ml|neptune|aim|clearml|dvclive|swanlab|trackio|visdom|sacred|"
    rb"tensorboardX|torch\.utils\.tensorboard|tensorboard_logger|clu)\b|tf\.summary\.|flax\.metrics\.tensorboard",
    re.MULTILINE,
)


def plan(context: Context) -> None:
    """Find the loops and wire them."""
    if context.options.strategy not in (None, "alongside") or _is_tracked(context):
        return
    context.repo.scan(_NEEDLES)
    paths = {site.path for site in context.plan.sites if site.kind != "launch"}
    if not any(_SIGNS.search(data := context.repo.read(path)) and _LOOP.search(data) for path in _own(context)):
        return
    modules = [
        module
        for module in context.modules(*_NEEDLES)
        if module.path not in paths and not module.path.endswith(("setup.py", "conf.py", "conftest.py"))
    ]
    if any(_TRACKERS.search(_code(module)) for module in modules):
        if not _only_read(modules):
            return
    runs = Runs(Code(context, modules))
    found = runs.find()
    writer = Writer(context)
    calls = {module.path: ProbeCalls(context, module) for module in modules}
    wanted = []
    for run in found:
        if not runs.is_convincing(run) or _of_a_loss(run):
            continue
        context.found(NAME)
        site = context.site(NAME, "open", run.module, run.loop, _what(run), strategy="alongside")
        if _is_instrumented(run, calls[run.module.path]):
            site.outcome, site.why = "already", "a run is opened here"
            _record(context, run, "already", "probe.log stands beside it")
            continue
        guard = _guard(context, runs, run, site)
        if guard is not None:
            wanted.append((run, site, guard))
    settled: set[int] = set()
    for run, _, _ in wanted:
        for place in run.places:
            bindable(place.emission)
        settle(runs, run, settled)
    steps = choose(runs, [run for run, _, _ in wanted])
    for run, site, guard in wanted:
        _wire(context, writer, run, site, guard, steps)
    if wanted:
        context.pass_over(
            "register", "the loop is the repository's own: there is no framework to register a logger with"
        )


def _of_a_loss(run: Run) -> bool:
    """Whether a loop takes gradients within one call of a loss or a layer, piece by piece, in a class that steps no
    optimizer (a trainer may be a Module, too).

    Losses with cached gradients (sentence-transformers 6.2) do: a run would be opened for every batch.
    """
    owner = run.module.enclosing_class(run.loop)
    if owner is None:
        return False
    bases = {run.module.code(base).rpartition(".")[2] for base in owner.bases}
    of_model = "Module" in bases or any(name.endswith("Loss") for name in (owner.name, *bases))
    return of_model and ".step(" not in run.module.code(owner)


def _is_tracked(context: Context) -> bool:
    """Whether another rule found a place where something is recorded, or where a trainer is built that could."""
    return any(site.kind in ("open", "emit", "registry") for site in context.plan.sites)


def _own(context: Context) -> list[str]:
    """Python files and notebooks that may be edited; notebooks are not looked at line by line here."""
    return [path for path in context.repo.having(*_NEEDLES, suffixes=(".py", ".ipynb")) if context.repo.editable(path)]


def _only_read(modules: list[Module]) -> bool:
    """Whether trackers are imported only to read from them: nothing is opened or logged in any file."""
    logs = re.compile(rb"\.(?:init|log|log_metric\w*|add_scalar\w*|start_run|Experiment|Run|scalar|init_run|track)\(")
    return not any(_TRACKERS.search(_code(m)) and logs.search(_code(m)) for m in modules)


def _code(module: Module) -> bytes:
    """A file's lines as bytes; those of a notebook's cells, which have quotes around them in the file."""
    source = module.source
    return source.text.encode("utf-8", "surrogatepass") if source.kind == "notebook" else source.data


def _what(run: Run) -> str:
    header = run.module.code(run.loop).partition("\n")[0].strip().rstrip(":")
    return header if len(header) <= 60 else header[:57] + "..."


def _is_instrumented(run: Run, calls: ProbeCalls) -> bool:
    """Whether a run is opened in the function that the loop is in."""
    function = run.module.function(run.loop)
    return any(run.module.function(call) is function for call in calls.by_method.get("init", []))


def _guard(context: Context, runs: Runs, run: Run, site: Site) -> str | None:
    """The condition to open the run under ("" for none), or None where a person must say."""
    shadow = context.tracking.shadowed(run.module)
    if shadow is not None:
        site.outcome, site.why = "refused", f"{shadow} shadows the SDK's package `probe`"
        context.note(
            "refusal", "probe-shadowed", f"{shadow} shadows the SDK: `import probe` would import it, so {run.module.path} is left alone",
            path=shadow, next=f"rename {shadow}, then run `instrument apply` again",
        )  # fmt: skip
        return None
    guards = guards_of(runs, run)
    named = [guard for guard in guards if guard]
    for guard in named:
        if is_visible(run, guard):
            return "" if stands_under(run, guard) else guard
    if named or is_distributed(run) or is_spawned(runs, run):
        ask(
            context, site, "which-process", "this loop runs in several processes, and it can't be seen which of them should "
            "record it" + (f" (it prints under `{named[0]}`, which is not known where the loop begins)" if named else ""),
            next="open the run by hand on that process: probe.init(...) before the loop, probe.log(...) beside its prints",
        )  # fmt: skip
        return None
    return ""


def _wire(context: Context, writer: Writer, run: Run, site: Site, guard: str, steps: dict[Place, str]) -> None:
    mixed = [place for place in run.places if place.mixed]
    places = [place for place in run.places if not place.mixed]
    for place in mixed:
        emit = _emit_site(context, place)
        ask(
            context, emit, "mixed-data", f"{place.unit.name} is called for several sets of data in each turn of the loop: its metrics "
            "would be mixed under one key", next="print them with the name of the data (phase, split), or log them where it is called",
        )  # fmt: skip
    if not any(not place.after for place in places):
        if not mixed:
            site.outcome, site.why = "left", "it trains, but shows no metric that could be sent"
        else:
            site.outcome, site.why = (
                "asked",
                "its metrics are shown by a function that is called for several sets of data",
            )
        return
    if not writer.open(run, guard):
        ask(context, site, "no-place", "no statement can stand before this loop: open the run by hand")
        return
    site.outcome, site.why = "covered", "a run is opened before the loop and closed after it"
    for place in places:
        emit = _emit_site(context, place)
        if writer.log(place, steps.get(place, "")):
            by = f"at `{steps[place]}`" if place in steps else "at Probe's own count"
            emit.outcome, emit.why = "covered", f"probe.log sends what is shown, {by}"
        else:
            emit.outcome, emit.why = "left", "no statement can stand beside it"
    if not writer.close(run):  # last: what is sent at the loop's last line comes before it
        site.why = "a run is opened before the loop; it is closed when the process ends"


def _emit_site(context: Context, place: Place) -> Site:
    emission = place.emission
    return context.site(NAME, "emit", emission.module, emission.node, emission.what, strategy="alongside")


def _record(context: Context, run: Run, outcome: str, why: str) -> None:
    for place in run.places:
        if outcome == "already":
            site = _emit_site(context, place)
            site.outcome, site.why = "already", why


RULE = Rule(name=NAME, title="Custom training loop", needles=(), plan=plan, order=299)
