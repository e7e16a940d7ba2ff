"""Do the claims still come out as in results/? Templates that are one tree are searched again; of the others the mappings
that were found are priced again."""

import csv
from pathlib import Path

from cases import ATTENTIONS, GEMMS
from claims import claims
from figures import CASES
from results import search_all, with_parts
from templates import WHOLE
from validation import run as validate

HERE = Path(__file__).parent


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def published_choices():
    return {
        (row["workload"], int(row["case"]), row["template"]): tuple(map(int, row["choice"].split()))
        for name in CASES
        for row in rows_of(HERE / "results" / name)
        if row["template"] not in WHOLE
    }


def differences(sluice, variations, folder):
    """Every claim that comes out otherwise than published, as text."""
    found = search_all(sluice, list(GEMMS), list(ATTENTIONS), variations, published_choices())
    fresh = [*validate(sluice.program, folder), *claims(with_parts(sluice, found))]
    published = {row["claim"]: row for row in rows_of(HERE / "results" / "claims.csv")}
    for claim in fresh:
        row = published.pop(claim.claim, None)
        if row is None:
            yield f"not in claims.csv: {claim.claim}: {claim.ours}"
        elif row["ours"] != claim.ours or (row["holds"] == "yes") != claim.holds:
            yield f"{claim.claim}: published: {row['ours']} ({row['holds']}); now: {claim.ours} ({'yes' if claim.holds else 'no'})"
    for claim in published:
        yield f"in claims.csv only: {claim}"
