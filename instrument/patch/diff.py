"""A plan as a unified diff that `git apply`, `git apply -R` and `patch -p1` take, whatever the file is like.

Made from bytes and split at b"\\n" only: form feed, U+2028, U+0085 and a lone CR end a line for `str.splitlines`, but
not for git, and a patch whose hunks are counted with them is a corrupt patch (seen with the previews of five peers).
"""

from __future__ import annotations

import os
import stat
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import partial

from instrument.errors import ConflictError, InstrumentError
from instrument.plan.edits import Edit, ordered
from instrument.plan.model import Plan
from instrument.repo.scan import Repository

#: Lines of context around a change, as git has them.
CONTEXT = 3
#: Beyond so many changed lines the exact algorithm (quadratic in them) gives way to difflib's.
_MAX_EXACT = 1500

Block = tuple[int, int, int]
Opcode = tuple[bool, int, int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """One file as it is and as it shall be."""

    #: Relative to the repository's root, posix form.
    path: str
    #: None for a file that is created.
    before: bytes | None
    after: bytes
    #: Permission bits, kept by the change (0o644 for a new file).
    mode: int = 0o644


def grouped(plan: Plan) -> dict[str, list[Edit]]:
    """The plan's edits by file, in order. Raises ConflictError where two overlap."""
    by_path: dict[str, list[Edit]] = defaultdict(list)
    for edit in plan.edits:
        by_path[edit.path].append(edit)
    return {path: ordered(by_path[path]) for path in sorted(by_path)}


def changes(repo: Repository, plan: Plan) -> list[FileChange]:
    """Render a plan: every file that it changes or creates, sorted by path; files it leaves as they are are left out.

    Raises ConflictError where edits overlap, where a file is not the one that was planned on, or where a new file is
    there already with other content; SourceError where a file can't be read; InstrumentError where an edit lies outside
    the file or has characters that its encoding lacks.
    """
    result = []
    edits_of = grouped(plan)
    for path, edits in edits_of.items():
        source = repo.source(path)
        if plan.hashes.get(path, source.sha256) != source.sha256:
            raise ConflictError("changed since it was planned", path=path, hint="plan again", code="changed-since-plan")
        last = edits[-1]
        if edits[0].start < 0 or max(edit.end for edit in edits) > len(source.text):
            raise InstrumentError(f"an edit lies outside the file («{last.reason}»)", path=path)
        after = _encoded(path, partial(source.render, edits))
        if after != source.data:
            result.append(FileChange(path=path, before=source.data, after=after, mode=_mode(repo, path)))
    seen = set(edits_of)
    for new in plan.new_files:
        if new.path in seen:
            raise ConflictError("is both created and changed, or created twice", path=new.path)
        seen.add(new.path)
        after = _encoded(new.path, partial(new.text.encode, "utf-8"))
        before = repo.read(new.path) if repo.exists(new.path) else None
        if before == after:
            continue
        if before is not None and (new.replaces is None or before != new.replaces.encode("utf-8")):
            raise ConflictError(
                "is there already, with other content", path=new.path, hint="move it away or name another file"
            )
        result.append(FileChange(path=new.path, before=before, after=after, mode=_mode(repo, new.path)))
    # What is added comes last: the edits are what a reviewer wants to see, and what a cut-off screen must not lose.
    return sorted(result, key=lambda change: (change.before is None, change.path))


def _encoded(path: str, encode: Callable[[], bytes]) -> bytes:
    try:
        return encode()
    except UnicodeEncodeError as error:
        bad = error.object[error.start : error.end]
        raise InstrumentError(f"«{bad}» can't be written in its encoding, {error.encoding}", path=path) from None


def _mode(repo: Repository, path: str) -> int:
    try:
        return stat.S_IMODE(os.lstat(repo.root / path).st_mode)
    except OSError:
        return 0o644


def git_prefix(repo: Repository) -> str:
    """What stands before the repository's paths when git names them: "" at the git root, "sub/folder/" below it."""
    if repo.git_root is None:
        return ""
    relative = os.path.relpath(repo.root, repo.git_root.resolve()).replace(os.sep, "/")
    return "" if relative == "." else relative + "/"


def patch(changes: Iterable[FileChange], prefix: str = "") -> bytes:
    """The changes as one patch. `prefix` is put before each path (`git_prefix`): names are relative to the git root."""
    return b"".join(part for change in changes for part in _file(change, prefix))


def _file(change: FileChange, prefix: str) -> Iterator[bytes]:
    before, after = change.before or b"", change.after
    if change.before is not None and before == after:
        return
    name = os.fsencode(prefix + change.path)
    old, new = _quoted(b"a/" + name), _quoted(b"b/" + name)
    yield b"diff --git " + old + b" " + new + b"\n"
    if change.before is None:
        yield b"new file mode 100755\n" if change.mode & 0o111 else b"new file mode 100644\n"
        if not after:
            yield b"index 0000000..e69de29\n"  # an empty file has no hunk; git wants this line instead
            return
    # patch(1) and git take everything up to a TAB as the name; without it a space would end the name.
    tab = b"\t" if b" " in name else b""
    yield b"--- " + (b"/dev/null" if change.before is None else old + tab) + b"\n"
    yield b"+++ " + new + tab + b"\n"
    yield from _hunks(_lines(before), _lines(after))


_ESCAPES = {0x07: b"\\a", 0x08: b"\\b", 0x09: b"\\t", 0x0A: b"\\n", 0x0B: b"\\v", 0x0C: b"\\f", 0x0D: b"\\r"}
_ESCAPES |= {0x22: b'\\"', 0x5C: b"\\\\"}


def _quoted(name: bytes) -> bytes:
    """A name as git writes it: C-quoted if it has control characters, quotes or backslashes; UTF-8 stays as it is."""
    if not any(byte < 0x20 or byte in (0x22, 0x5C, 0x7F) for byte in name):
        return name
    parts = []
    for byte in name:
        if byte in _ESCAPES:
            parts.append(_ESCAPES[byte])
        else:
            parts.append(b"\\%03o" % byte if byte < 0x20 or byte == 0x7F else bytes([byte]))
    return b'"' + b"".join(parts) + b'"'


def _lines(data: bytes) -> list[bytes]:
    lines = data.split(b"\n")
    last = lines.pop()
    return [line + b"\n" for line in lines] + ([last] if last else [])


def _hunks(old: Sequence[bytes], new: Sequence[bytes]) -> Iterator[bytes]:
    for group in _groups(old, new):
        first, last = group[0], group[-1]
        yield b"@@ -%s +%s @@\n" % (_range(first[1], last[2]), _range(first[3], last[4]))
        for equal, i, i_end, j, j_end in group:
            if equal:
                yield from (_line(b" ", line) for line in old[i:i_end])
            else:
                yield from (_line(b"-", line) for line in old[i:i_end])
                yield from (_line(b"+", line) for line in new[j:j_end])


def _line(sign: bytes, line: bytes) -> bytes:
    return sign + line if line.endswith(b"\n") else sign + line + b"\n\\ No newline at end of file\n"


def _range(start: int, end: int) -> bytes:
    length = end - start
    # An empty range names the line before it.
    return b"%d" % (start + 1) if length == 1 else b"%d,%d" % (start + (length > 0), length)


def _groups(old: Sequence[bytes], new: Sequence[bytes]) -> Iterator[list[Opcode]]:
    """Opcodes (equal?, i, i_end, j, j_end) in hunks, with CONTEXT lines of equal text at each end."""
    group: list[Opcode] = []
    for equal, i, i_end, j, j_end in _opcodes(old, new):
        at_end = i_end == len(old) and j_end == len(new)
        if not equal:
            group.append((False, i, i_end, j, j_end))
            continue
        if not group:
            skip = max(0, i_end - i - CONTEXT)
            group = [(True, i + skip, i_end, j + skip, j_end)]
        elif i_end - i > 2 * CONTEXT or at_end:
            keep = min(CONTEXT, i_end - i)
            yield [*group, (True, i, i + keep, j, j + keep)]
            group = [(True, i_end - keep, i_end, j_end - keep, j_end)]
        else:
            group.append((True, i, i_end, j, j_end))
    if any(not opcode[0] for opcode in group):
        yield group


def _opcodes(old: Sequence[bytes], new: Sequence[bytes]) -> Iterator[Opcode]:
    i = j = 0
    for at_old, at_new, size in _matches(old, new):
        if i < at_old or j < at_new:
            yield False, i, at_old, j, at_new
        if size:
            yield True, at_old, at_old + size, at_new, at_new + size
        i, j = at_old + size, at_new + size


def _matches(old: Sequence[bytes], new: Sequence[bytes]) -> list[Block]:
    """Runs of equal lines (i, j, length), in order, ending with an empty one at both ends."""
    head, shorter = 0, min(len(old), len(new))
    while head < shorter and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < shorter - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    old_middle, new_middle = old[head : len(old) - tail], new[head : len(new) - tail]
    exact = _myers(old_middle, new_middle)
    middle = (
        SequenceMatcher(None, old_middle, new_middle, autojunk=False).get_matching_blocks() if exact is None else exact
    )
    blocks = [(0, 0, head), *((head + i, head + j, size) for i, j, size in middle)]
    blocks += [(len(old) - tail, len(new) - tail, tail), (len(old), len(new), 0)]
    joined: list[Block] = []
    for i, j, size in blocks:
        if joined and size and (joined[-1][0] + joined[-1][2], joined[-1][1] + joined[-1][2]) == (i, j):
            joined[-1] = (joined[-1][0], joined[-1][1], joined[-1][2] + size)
        elif size or (i, j) == (len(old), len(new)):
            joined.append((i, j, size))
    return joined


def _myers(old: Sequence[bytes], new: Sequence[bytes]) -> list[Block] | None:
    """The shortest edit script (Myers, O(ND)), fast because a plan changes few lines of a large file."""
    n, m = len(old), len(new)
    if not n or not m:
        return []
    furthest, trace = {1: 0}, []
    for d in range(min(n + m, _MAX_EXACT) + 1):
        trace.append(dict(furthest))
        for k in range(-d, d + 1, 2):
            down = k == -d or (k != d and furthest[k - 1] < furthest[k + 1])
            x = furthest[k + 1] if down else furthest[k - 1] + 1
            while x < n and x - k < m and old[x] == new[x - k]:
                x += 1
            furthest[k] = x
            if x >= n and x - k >= m:
                return _walk_back(trace, n, m)
    return None


def _walk_back(trace: list[dict[int, int]], x: int, y: int) -> list[Block]:
    blocks: list[Block] = []
    for d in range(len(trace) - 1, -1, -1):
        furthest, k = trace[d], x - y
        down = k == -d or (k != d and furthest[k - 1] < furthest[k + 1])
        previous_k = k + 1 if down else k - 1
        previous_x = furthest[previous_k]
        previous_y = previous_x - previous_k
        start = previous_x if down else previous_x + 1
        if x > start:
            blocks.append((start, start - k, x - start))
        x, y = previous_x, previous_y
    return blocks[::-1]
