"""Which files of a checkout are specs, of what kind, and which other files each needs."""

import re
from dataclasses import dataclass, field
from pathlib import Path

ENDINGS = (".yaml", ".yml", ".cfg", ".jinja", ".jinja2")
SECTION = re.compile(r"""^["']?([A-Za-z_][\w-]*)["']?\s*[:=]""", re.MULTILINE)
CONSTRAINTS = {"constraints", "architecture_constraints", "mapspace_constraints", "mapspace"}
MOST_PARTNERS = 6


@dataclass
class SpecFile:
    path: Path
    sections: set
    text: str
    kind: str = ""
    tool: str = ""


@dataclass
class Case:
    """A file with the partners that it needs (in the first of several ways that fits), under values of variables."""

    file: SpecFile
    ways: list
    variables: dict = field(default_factory=dict)


def kind_of(file):
    """The kind by the section that others are needed for first, and the tool that writes it."""
    has = file.sections
    if has & {"arch", "workload"} and not has & {"problem", "mapspace", "mapper"} and "storage" not in file.text:
        return ("mapping" if "mapping" in has else "workload" if "arch" not in has else "arch"), "AccelForge"
    if "mapping" in has and not has & {"architecture", "problem", "arch"}:
        is_tree = "nodes:" in file.text and "target" not in file.text
        return "mapping", "AccelForge" if is_tree else "Timeloop"
    if has & {"architecture", "arch", "problem", "shape"} or has & CONSTRAINTS:
        whole = has & {"architecture", "arch"} and has & {"problem"}
        names = [("whole job", whole), ("constraints", has & CONSTRAINTS and not has & {"architecture", "arch"}),
                 ("arch", has & {"architecture", "arch"}), ("problem", True)]
        return next(name for name, holds in names if holds), "Timeloop"
    return "", ""


def spec_files(checkout):
    """Every spec file; what other tools keep in YAML, and parts that others include, are none."""
    found = []
    for path in sorted(checkout.rglob("*")):
        if path.suffix not in ENDINGS or any(part.startswith(".") for part in path.relative_to(checkout).parts):
            continue
        text = path.read_text(errors="replace")
        file = SpecFile(path, set(SECTION.findall(text)), text)
        file.kind, file.tool = kind_of(file)
        if file.kind:
            found.append(file)
    return found


def is_part(file, checkout):
    """Files that others include say so with a `_`."""
    return any(part.startswith("_") for part in file.path.relative_to(checkout).parts)


def has(file, wanted):
    """Whether a file can stand in for the part that another one needs."""
    if "flattened" in file.path.name:  # of Accelergy: no order of levels
        return False
    return file.kind in (wanted, "whole job")


def nearest(file, files, wanted, stop):
    """Files of a kind, those in the nearest folder around first; there those of the likest name."""
    found = []
    for folder in file.path.parents:
        near = [other for other in files if has(other, wanted) and other.tool == file.tool and
                folder in other.path.parents and other.path != file.path and other not in found]

        def unlike(other):
            words = set(re.split(r"\W+|_", other.path.stem)) & set(re.split(r"\W+|_", file.path.stem))
            return (-len(words), len(other.path.relative_to(folder).parts), other.path)

        found += sorted(near, key=unlike)
        if folder == stop or len(found) > MOST_PARTNERS:
            break
    return found


def jobs(file, files, checkout):
    """The file after those without which it says nothing, in several ways where there are several problems."""
    needed = {"mapping": ["problem", "arch"], "constraints": ["problem", "arch"]}.get(file.kind, [])
    if file.tool == "AccelForge" and file.kind == "mapping":
        needed = ["workload", "arch"]
    absent = {"problem": {"problem"}, "arch": {"architecture", "arch"}, "workload": {"workload"}}
    lists = [nearest(file, files, kind, checkout) for kind in needed if not absent[kind] & file.sections]
    first = [partners[0].path for partners in lists[1:] if partners]
    variables = [other.path for other in files_of_variables(file)]
    for partner in (lists[0][:MOST_PARTNERS] if lists and lists[0] else [None]):
        yield list(dict.fromkeys(variables + ([partner.path] if partner else []) + first + [file.path]))


def files_of_variables(file):
    """Files beside an architecture that hold nothing but variables."""
    if file.kind != "arch":
        return []
    beside = (path for path in sorted(file.path.parent.glob("*.yaml")) if path != file.path)
    return [SpecFile(path, {"variables"}, "") for path in beside
            if set(SECTION.findall(path.read_text(errors="replace"))) == {"variables"}]
