"""Which files of a checkout are specs, of what kind, and which other files each needs."""

import re
from dataclasses import dataclass, field
from pathlib import Path

ENDINGS = (".yaml", ".yml", ".cfg", ".jinja2")
SECTION = re.compile(r"""^["']?([A-Za-z_][\w-]*)["']?\s*[:=]""", re.MULTILINE)
CONSTRAINTS = {"constraints", "architecture_constraints", "mapspace_constraints", "mapspace"}
TREE = re.compile(r"^  nodes:", re.MULTILINE)


@dataclass
class SpecFile:
    path: Path
    sections: set
    text: str
    kind: str = ""
    tool: str = ""


@dataclass
class Case:
    """One call: a file with the partners that it needs, under values of variables."""

    file: SpecFile
    files: list
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


def nearest(file, files, wanted, stop):
    """The file of a kind in the nearest folder around, that of the likest name first."""
    for folder in file.path.parents:
        near = [other for other in files if other.kind == wanted and other.tool == file.tool and
                folder in other.path.parents and other.path != file.path]
        if near:
            def unlike(other):
                words = set(re.split(r"\W+|_", other.path.stem)) & set(re.split(r"\W+|_", file.path.stem))
                return (-len(words), len(other.path.relative_to(folder).parts), other.path)
            return min(near, key=unlike)
        if folder == stop:
            return None
    return None


def job(file, files, checkout):
    """The file after those without which it says nothing."""
    needed = {"mapping": ["problem", "arch"], "constraints": ["problem", "arch"]}.get(file.kind, [])
    if file.tool == "AccelForge" and file.kind == "mapping":
        needed = ["workload", "arch"]
    absent = {"problem": {"problem"}, "arch": {"architecture", "arch"}, "workload": {"workload"}}
    partners = [nearest(file, files, kind, checkout) for kind in needed if not absent[kind] & file.sections]
    return [partner.path for partner in partners if partner] + [file.path]
