"""Runs what the docs show: every `$ command` of the tutorials, the recipes, docs/cli.md and README.md, in the order of its page, in a folder
of its own with the files that the page shows (```yaml title="NAME", or `# NAME` in the first line). Commands must succeed, or end with 1
where the page shows that there is no mapping, and print the lines that the page shows; `…` stands for any others, and what depends on
the clock (`search`) is not compared.

tutorials_test.py SLUICE [--update]   --update writes what the commands print into the pages, where no `…` stands
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

sluice = os.path.abspath(sys.argv[1])
update = "--update" in sys.argv
repository = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
PAGES = [*sorted(glob.glob(f"{repository}/docs/tutorials/*.md")), f"{repository}/docs/recipes.md", f"{repository}/docs/cli.md",
         f"{repository}/README.md"]
NOT_RUN = ("small.yaml", "options.yaml", "mappings.jsonl", "bounds ffm_chain")  # files that no page shows; half a minute
FENCE = re.compile(r'^```(\w*)(?: title="([^"]+)")?\n(.*?)^```$', re.M | re.S)
failures, n_commands = [], 0


def timeless(line):
    line = line.rstrip()
    return "  search" if line.startswith("  search ") else line


def differs(shown, printed):
    """The first line shown that is not printed where it should be, or None."""
    lines, at, free = [timeless(line) for line in printed.splitlines()], 0, False
    for line in map(timeless, shown):
        if line == "…":
            free = True
            continue
        found = next((i for i in range(at, len(lines) if free else min(at + 1, len(lines))) if lines[i] == line), None)
        if found is None:
            return line
        at, free = found + 1, False
    return lines[at] if not free and at < len(lines) else None


def run_block(block, folder, page):
    """The block with what its commands print."""
    global n_commands
    result = []
    for part in re.split(r"^(?=\$ )", block, flags=re.M):
        if not part.startswith("$ "):
            result.append(part)
            continue
        lines = part.splitlines()
        command = lines[0][2:].replace("./dev run ", "sluice ")
        while command.endswith("\\"):
            command = command[:-1] + lines.pop(1)
        if any(name in command for name in NOT_RUN):
            result.append(part)
            continue
        n_commands += 1
        done = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True,
                              env={**os.environ, "PATH": os.path.dirname(sluice) + ":" + os.environ["PATH"], "LC_ALL": "C.UTF-8"})
        has_none = any(line.startswith(("no mapping", "no legal mapping")) for line in lines)
        if done.returncode != (1 if has_none else 0):
            failures.append(f"{page}: `{command}` ends with {done.returncode}: {done.stderr.strip()}")
        shown = lines[1:]
        if update and "…" not in shown:
            result.append("\n".join([lines[0], done.stdout.rstrip("\n")]).rstrip("\n") + "\n")
            continue
        wrong = differs(shown, done.stdout) if shown else None
        if wrong is not None:
            failures.append(f"{page}: `{command}`: {wrong!r} is not where the page has it; printed:\n{done.stdout}")
        result.append(part)
    return "".join(result)


for path in PAGES:
    text = open(path, encoding="utf-8").read()
    page = os.path.basename(path)
    with tempfile.TemporaryDirectory() as folder:
        def visit(fence):
            language, title, content = fence.groups()
            if language == "yaml" and not title:
                title = next(iter(re.findall(r"\A# (\S+\.yaml)\n", content)), None)
            if title:
                open(os.path.join(folder, title), "w", encoding="utf-8").write(content)
            elif content.startswith("$ "):
                return f"```{language}\n{run_block(content, folder, page)}```"
            return fence.group(0)
        new = FENCE.sub(visit, text)
    if update and new != text:
        open(path, "w", encoding="utf-8").write(new)

print("\n".join(failures))
print(f"tutorials: {n_commands} commands, {len(failures)} failures")
sys.exit(1 if failures else 0)
