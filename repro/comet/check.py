"""Do the claims still come out as in results/? Templates that are one tree are searched again; of the others the mappings
that were found are priced again."""

import csv
from pathlib import Path

from cases import ATTENTIONS, GEMMS
from claims import HEADER, Judged, judged
from figures import CASES
from results import JOINT, search_all, with_parts
from templates import WHOLE
from validation import run as validate

HERE = Path(__file__).parent


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def published_choices(folder):
    return {
        (row["workload"], int(row["case"]), row["template"]): tuple(map(int, row["choice"].split()))
        for name in CASES
        for row in rows_of(folder / name)
        if row["template"] not in WHOLE
    }


def found_again(sluice, settings, folder):
    return with_parts(sluice, search_all(sluice, list(GEMMS), list(ATTENTIONS), settings, published_choices(folder)))


def differences(sluice, variations, folder):
    """Every claim that comes out otherwise than published, in the base or in the joint variant, as text."""
    base = found_again(sluice, variations, HERE / "results")
    joint = found_again(sluice, {**JOINT, **variations}, HERE / "results" / "joint")
    fresh = [*map(Judged, validate(sluice.program, folder)), *judged(base, joint, {})]
    published = {row["claim"]: row for row in rows_of(HERE / "results" / "claims.csv")}
    for one in fresh:
        row = published.pop(one.claim.claim, None)
        now = dict(zip(HEADER, one.row()))
        if row is None:
            yield f"not in claims.csv: {now['claim']}: {now['ours']}"
            continue
        for said, holds in (("ours", "holds"), ("joint", "holds_jointly")):
            if (row[said], row[holds]) != (now[said], now[holds]):
                yield f"{now['claim']} ({said}): published: {row[said]} ({row[holds]}); now: {now[said]} ({now[holds]})"
    for claim in published:
        yield f"in claims.csv only: {claim}"
