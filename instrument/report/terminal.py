"""What people see in a terminal, or in a log when it is piped: a plan that fits a screen, a diff, an error."""

from __future__ import annotations

import sys
import textwrap
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal, TextIO

from instrument.errors import InstrumentError
from instrument.report.summary import KINDS, OUTCOMES, Summary, Touched
from instrument.report.text import plural, shortened, shown

if TYPE_CHECKING:
    from rich.console import Console

    from instrument.plan.model import Note

Color = Literal["auto", "always", "never"]

#: A piped report is not wrapped: a log is searched by line.
_UNWRAPPED = 1_000_000
_MAX_WIDTH = 110
#: What is listed without -v: a plan should fit a screen.
_MAX_FILES, _MAX_REASONS = 12, 7


class Screen:
    """One stream for people. Text is never taken as markup; what a terminal would act on is escaped before it."""

    def __init__(self, stream: TextIO, *, color: Color = "auto") -> None:
        self.stream = stream
        self.color = color
        self._console: Console | None = None
        self._progress_shown = False

    @property
    def console(self) -> Console:
        """rich's console, made when something is printed; it knows NO_COLOR, FORCE_COLOR, dumb terminals and widths."""
        if self._console is None:
            from rich import console

            class Console(console.Console):
                def on_broken_pipe(self) -> None:
                    raise  # rich would end the process with 1; the command's own handling is right

            self._console = Console(
                file=self.stream,
                force_terminal=True if self.color == "always" else None,
                no_color=True if self.color == "never" else None,
                color_system=None if self.color == "never" else "standard" if self.color == "always" else "auto",
                highlight=False,
                markup=False,
                emoji=False,
                legacy_windows=False,
            )
        return self._console

    @property
    def is_terminal(self) -> bool:
        return self.stream.isatty()

    @property
    def width(self) -> int:
        return min(self.console.width, _MAX_WIDTH) if self.is_terminal else _UNWRAPPED

    def line(self, text: str = "", style: str = "") -> None:
        """One line, escaped, not wrapped."""
        self.console.print(shown(text, keep="\t"), style=style or None, soft_wrap=True)

    def raw(self, text: str) -> None:
        """Several lines of our own (a traceback), escaped line by line."""
        for line in text.rstrip("\n").split("\n"):
            self.line(line)

    def paragraph(self, text: str, *, indent: str = "", first: str | None = None, style: str = "") -> None:
        """A text wrapped at words with a hanging indent; paths and names are never broken."""
        lines = textwrap.wrap(
            shown(text), self.width, initial_indent=indent if first is None else first, subsequent_indent=indent,
            break_long_words=False, break_on_hyphens=False,
        )  # fmt: skip
        for line in lines or [""]:
            self.console.print(line, style=style or None, soft_wrap=True)

    def heading(self, text: str) -> None:
        self.line()
        self.line(text, "bold")

    def error(self, error: InstrumentError) -> None:
        """An error in one line, and what to do about it in the next."""
        place = ""
        if error.path is not None:
            place = f"{error.path}:{error.line}: " if error.line else f"{error.path}: "
        self.paragraph(f"instrument: {place}{error.message}", indent="  ", first="", style="red")
        if error.hint:
            self.paragraph(error.hint, indent="  ")

    def ask(self, question: str) -> bool:
        """Ask yes or no on the terminal; anything but yes, and the end of input, is no."""
        self.console.print(f"{question} [y/N] ", end="")
        self.stream.flush()
        try:
            return input().strip().lower() in ("y", "yes")
        except EOFError:
            self.line()
            return False

    def progress(self, what: str) -> Callable[[int, int], None] | None:
        """A callback (done, total) that keeps one line up to date, on a terminal only and not for what is soon over."""
        if not self.is_terminal:
            return None
        started = last = time.monotonic()

        def show(done: int, total: int) -> None:
            nonlocal last
            now = time.monotonic()
            if now - started > 0.4 and now - last > 0.1:
                last = now
                self._progress_shown = True
                self.stream.write(f"\r\x1b[2K{what} {done:,} of {total:,} files")
                self.stream.flush()

        return show

    def clear_progress(self) -> None:
        """Take the progress line away."""
        if self._progress_shown:
            self._progress_shown = False
            self.stream.write("\r\x1b[2K")
            self.stream.flush()

    def patch(self, patch: bytes) -> None:
        """A patch for reading: coloured, every control character of the target's code escaped, through the pager."""
        from rich.text import Text

        styles = {"+": "green", "-": "red", "@": "cyan"}
        text = Text()
        for line in patch.decode("utf-8", "surrogateescape").split("\n"):
            body = line[:-1] if line.endswith("\r") else line  # CRLF files: the ending is not worth showing
            header = line.startswith(("diff --git ", "--- ", "+++ ", "index ", "new file"))
            style = "bold" if header else styles.get(line[:1], "")
            text.append(shown(body, keep="\t") + "\n", style=style or None)
        text.rstrip()
        if self.is_terminal and text.plain.count("\n") > self.console.height and sys.stdin.isatty():
            with self.console.pager(styles=self.console.color_system is not None):
                self.console.print(text, soft_wrap=True)
        else:
            self.console.print(text, soft_wrap=True)


def write_plan(screen: Screen, summary: Summary, *, verbose: bool = False, applied: bool = False) -> None:
    """The plan on one screen: found, changes, questions, refusals, left alone, next."""
    _found(screen, summary)
    if summary.already and not summary.notes("refusal"):
        screen.line()
        screen.line("already instrumented, nothing to do", "green")
    elif summary.plan.empty:
        screen.line()
        screen.line("already instrumented, nothing more to do" if summary.already else "nothing to do", "bold")
    else:
        _changes(screen, summary, verbose, applied)
        _proofs(screen, summary, verbose)
    _places(screen, summary, verbose)
    for title, level, style in (
        ("To decide", "question", "yellow"),
        ("Refused", "refusal", "red"),
        ("Warnings", "warning", "yellow"),
        ("Also", "info", ""),
    ):
        _notes(screen, title, summary.notes(level), style)
    if summary.plan.passed_over:
        screen.heading("Passed over")
        for strategy, why in summary.plan.passed_over:
            screen.paragraph(f"{strategy}: {why}", indent="    ", first="  ")
    skipped = summary.grouped_skipped(1_000_000 if verbose else 8)
    if skipped:
        screen.heading("Left alone")
        for path, kind, count in skipped:
            what = KINDS.get(kind, kind)
            screen.paragraph(f"{path} ({what if count == 1 else f'{count:,} {what}'})", indent="    ", first="  ")
    write_steps(screen, summary.next_steps(applied))


def write_steps(screen: Screen, steps: Sequence[tuple[str, str]]) -> None:
    """What to do next, each with its reason."""
    if steps:
        screen.heading("Next")
        for action, why in steps:
            screen.paragraph(f"{action}  ({why})", indent="      ", first="  ")


def _found(screen: Screen, summary: Summary) -> None:
    plan = summary.plan
    names = "; ".join(f"{title} ({form})" if form else title for title, form in summary.shapes)
    screen.paragraph(f"Found: {names or 'no trainer or tracker that is known here'}", indent="       ", first="")
    read = f"{plural(plan.files_seen, 'file')} read, {plan.files_parsed:,} parsed"
    screen.paragraph(f"{plural(len(plan.sites), 'place')}; {read}, {plan.seconds:.2f} s", indent="       ")


def _changes(screen: Screen, summary: Summary, verbose: bool, applied: bool) -> None:
    files = summary.files
    screen.heading(f"{'Changed' if applied else 'Will change'} {plural(len(files), 'file')}")
    listed = files if verbose or len(files) <= _MAX_FILES + 1 else _shortest_list(files)
    width = min(max(len(shown(change.path)) for change in listed), max(screen.width - 24, 20), 60)
    for change in listed:
        path = shortened(shown(change.path), width) if screen.is_terminal else shown(change.path)
        what = plural(len(change.edits), "edit")
        if change.new:
            what = f"new, {plural(change.new.text.count(chr(10)), 'line')}"
        screen.line(f"  {path:<{width}}  {what}" + (", review" if change.review else ""), "green")
        if verbose:
            if change.new:
                screen.paragraph(change.new.reason, indent="      ", first="    ")
            for edit in sorted(change.edits, key=lambda edit: edit.start):
                mark = " [review]" if edit.applicability == "review" else ""
                text = f"{summary.line(edit)}: {edit.reason} ({edit.rule}){mark}"
                screen.paragraph(text, indent="      ", first="    ")
    if len(listed) < len(files):
        screen.line(f"  and {plural(len(files) - len(listed), 'more file')} (-v shows all)", "dim")
    if not verbose:
        screen.heading("Why")
        reasons = Counter(reason for change in files for reason in change.reasons)
        for reason, count in reasons.most_common(_MAX_REASONS):
            screen.paragraph(f"{reason} ({plural(count, 'file')})" if count > 1 else reason, indent="    ", first="  ")
        if len(reasons) > _MAX_REASONS:
            screen.line(f"  and {plural(len(reasons) - _MAX_REASONS, 'more reason')} (-v shows all)", "dim")


def _proofs(screen: Screen, summary: Summary, verbose: bool) -> None:
    if not summary.proofs:
        return
    screen.heading("Proved before anything is written")
    names = dict.fromkeys(proof.name for proof in summary.proofs)
    files = {proof.path for proof in summary.proofs if proof.path}
    screen.paragraph(f"{', '.join(names)}: {plural(len(files), 'file')}", indent="    ", first="  ")
    for proof in summary.proofs if verbose else ():
        for note in proof.notes:
            screen.paragraph(f"{proof.path}: {note}" if proof.path else note, indent="      ", first="    ")


def _shortest_list(files: Sequence[Touched]) -> list[Touched]:
    """The first files and every new one: what is added to a repository is always told."""
    new = [change for change in files if change.new]
    return [*[change for change in files if not change.new][: max(_MAX_FILES - len(new), 3)], *new]


def _places(screen: Screen, summary: Summary, verbose: bool) -> None:
    outcomes = summary.outcomes
    if not outcomes:
        return
    screen.heading("Places (runs opened, metrics sent, trainers built)")
    told = {(note.path, note.line) for note in summary.plan.notes}
    for outcome, sites in outcomes.items():
        screen.line(f"  {len(sites):>4} {OUTCOMES[outcome]}")
        # What a plan covers is in the diff; what it does not cover is what a person has to know.
        for site in sites:
            if verbose or (outcome in ("asked", "refused") and (site.path, site.line) not in told):
                process = "" if site.process == "main" else f", in {site.process}"
                strategy = f" -> {site.strategy}" if site.strategy else ""
                why = f": {site.why}" if site.why else ""
                text = f"{site.path}:{site.line} {site.what}{process}{strategy}{why}"
                screen.paragraph(text, indent="         ", first="       ")


def _notes(screen: Screen, title: str, notes: Sequence[Note], style: str) -> None:
    if not notes:
        return
    screen.heading(title)
    for note in notes:
        where = ""
        if note.path:
            where = f"{note.path}:{note.line}: " if note.line else f"{note.path}: "
        screen.paragraph(f"{where}{note.message} [{note.code}]", indent="    ", first="  ", style=style)
        if note.next:
            screen.paragraph(note.next, indent="       ", first="    -> ")
