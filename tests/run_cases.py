"""The table of cases: `python -m tests.run_cases [ids or first letters...]` (-v shows why, -k keeps the edited trees).

`--bless` adds the ids that pass now to tests/cases_floor.json, which tests/test_cases.py holds them to. It never takes
one away: what passed once and fails now is a fault, not a new floor.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tests import cases

FLOOR = Path(__file__).with_name("cases_floor.json")


def chosen(names: Sequence[str]) -> list[str]:
    """Ids that start with one of the names; all of them without names."""
    return [case for case in cases.ids() if not names or case.startswith(tuple(names))]


def floor() -> dict[str, list[str]]:
    """Kind -> ids that must pass."""
    found: dict[str, list[str]] = json.loads(FLOOR.read_text()) if FLOOR.exists() else {}
    return found


def _run(case: str, keep: Path | None) -> cases.Result:
    return cases.run(case, keep / case if keep else None)


def _why(result: cases.Result) -> str:
    """The line that says most of what is wrong: the last of a crash, else the checker's first."""
    if result.unsafe:
        lines = [line.strip() for line in result.unsafe[0].split("\n") if line.strip()]
        return next((line for line in lines if "internal error" in line), lines[0])
    lines = [line.strip() for part in result.wrong for line in part.split("\n") if line.strip()]
    return next((line for line in lines if not line.startswith("FAIL")), lines[0] if lines else "")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ids", nargs="*", help="ids, or the beginning of ids: w h01")
    parser.add_argument("-v", "--verbose", action="store_true", help="why each failed, and the tool's report")
    parser.add_argument("-k", "--keep", type=Path, metavar="DIR", help="keep the edited trees below this folder")
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("--bless", action="store_true", help="write down which pass now")
    asked = parser.parse_args()
    names = chosen(asked.ids)
    if not names:
        print(f"no such case in {cases.ROOT}")
        return 2
    results: list[cases.Result] = []
    with ProcessPoolExecutor(asked.jobs) as pool:
        for result in pool.map(_run, names, [asked.keep] * len(names)):
            results.append(result)
            why = _why(result)
            print(f"{'pass' if result.ok else 'FAIL'}  {result.case:34} {'' if result.ok else why[:150]}", flush=True)
            if asked.verbose and not result.ok:
                print("\n".join(f"    {line}" for part in [*result.unsafe, *result.wrong] for line in part.split("\n")))
                print("\n".join(f"    | {line}" for line in result.report.split("\n")))
    print()
    passed: dict[str, list[str]] = {}
    for letter, kind in cases.KINDS.items():
        of_kind = [result for result in results if result.case[0] == letter]
        if of_kind:
            good = [result.case for result in of_kind if result.ok]
            passed[kind] = good
            print(f"{kind:14} {len(good):>2} of {len(of_kind):>2}")
    total = sum(result.ok for result in results)
    print(f"{'all':14} {total:>2} of {len(results):>2}")
    if asked.bless:
        known = floor()
        raised = {kind: sorted({*known.get(kind, ()), *passed.get(kind, ())}) for kind in cases.KINDS.values()}
        FLOOR.write_text(json.dumps(raised, indent=2) + "\n")
    return 0 if total == len(results) else 1


if __name__ == "__main__":
    sys.exit(main())
