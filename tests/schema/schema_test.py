"""`sluice schema` against the files there are: every spec of the library, of the golden examples and every fifth of the golden
data is valid, every golden result too; specs with a mistake of structure (tests/errors) are not.

schema_test.py SLUICE
"""
import glob
import json
import os
import re
import subprocess
import sys

import jsonschema
import yaml

sluice = sys.argv[1]
repository = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
SECTIONS = ("workload", "arch", "mapping", "constraints")

# What a reader says of a mistake that the shape of a file shows; the others are about what names and numbers mean.
STRUCTURE = re.compile(r"has no key '|needs the key '|must be a map, not|must be a list, not|unknown tag !"
                       r"|must be a text, not|must be an expression, not|' is no (topology|buffering|direction|dataflow|type of collective|reduction|kind)"
                       r"|'mapper' has no option")
# Of these another file says which keys there are (a component's class, a file that is merged), or what else stands there decides.
NOT_SEEN = re.compile(r"an action needs the key|an architecture needs the key|a workload needs the key|a reducing !Collective|the attribute|(a class|a component class|an attribute|a table|component_attributes)( of a class)? (has no key|needs the key)|directive|a plan has|the same key|\b(an action of a class|values)\b")


class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """Tags as the key `node`, as in documents."""


def tagged(loader, suffix, node):
    if isinstance(node, yaml.MappingNode):
        return {"node": suffix, **loader.construct_mapping(node, deep=True)}
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    return {"node": suffix} if node.value == "" else node.value


Loader.add_multi_constructor("!", tagged)
Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag not in ("tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:value")]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()}


def schema(kind):
    text = subprocess.run([sluice, "schema", kind], capture_output=True, text=True, check=True).stdout
    document = json.loads(text)
    jsonschema.Draft202012Validator.check_schema(document)
    return jsonschema.Draft202012Validator(document)


def documents(path):
    with open(path, encoding="utf-8") as file:
        return [d for d in yaml.load_all(file, Loader) if isinstance(d, dict)]


def keys_as_text(value):
    if isinstance(value, dict):
        return {str(key): keys_as_text(item) for key, item in value.items()}
    return [keys_as_text(item) for item in value] if isinstance(value, list) else value


def mistake(validators, document):
    """The deepest mistake by the schema of a section that the document has."""
    present = [section for section in SECTIONS if section in document]
    for section in present or SECTIONS[:1]:
        error = jsonschema.exceptions.best_match(validators[section].iter_errors(keys_as_text(document)))
        if error:
            return f"{'/'.join(map(str, error.absolute_path))}: {error.message[:200]}"
    return None


validators = {kind: schema(kind) for kind in (*SECTIONS, "sweep", "design", "result")}
failures = []
n_valid = n_refused = n_results = 0

specs = (glob.glob(f"{repository}/library/**/*.yaml", recursive=True) + glob.glob(f"{repository}/tests/golden/examples/*.yaml")
         + glob.glob(f"{repository}/tests/package/*.yaml") + [path for path in sorted(glob.glob(f"{repository}/../shared/golden/*/*/*.yaml")) if "/timeloop/" not in path][::5])
for path in sorted(specs):
    for document in documents(path):
        if not any(section in document for section in SECTIONS):
            continue
        n_valid += 1
        error = mistake(validators, document)
        if error:
            failures.append(f"{os.path.relpath(path, repository)}: {error}")

# Files of sweeps and designs: those of the documentation are valid, the same with a mistake of structure are not.
MANY = ("sweep", "design")
blocks = [text for text in re.findall(r"```yaml\n(.*?)```", open(f"{repository}/docs/sweeps.md", encoding="utf-8").read(), re.S)]
many = {kind: [d for text in [*blocks, open(f"{repository}/bench/design_grid.yaml", encoding="utf-8").read()] for d in yaml.load_all(text, Loader) if kind in d] for kind in MANY}
for kind in MANY:
    if not many[kind]:
        failures.append(f"docs/sweeps.md has no example of a {kind}")
    for document in many[kind]:
        n_valid += 1
        failures += [f"{kind}: {'/'.join(map(str, e.absolute_path))}: {e.message[:200]}" for e in validators[kind].iter_errors(keys_as_text(document))]
        section = document[kind]
        wrong = [{kind: {**section, "worklods": ["matmul"]}}, {kind: {**section, "set": ["M"]}}, {kind: {**section, "options": {"objectiv": "edp"}}},
                 {kind: {key: value for key, value in section.items() if key != "workloads"}}, {kind: section, "mapper": {}}, {"arch": {}}]
        wrong += [{kind: {**section, "random": {"samples": 3}}}, {kind: {**section, "list": {"M": 1}}}] if kind == "sweep" else [{kind: {**section, "budgets": {"aera": 1}}}]
        for mutant in wrong:
            n_refused += 1
            if validators[kind].is_valid(keys_as_text(mutant)):
                failures.append(f"{kind}: valid, though: {json.dumps(mutant)[:200]}")

# A key that no example of src/frontend/load/spec_examples.h (of the reader's own, for sweeps and designs) has is known by name only.
for section in (*SECTIONS, *MANY):
    definitions = {"the file": validators[section].schema, **validators[section].schema["$defs"]}
    for name, definition in definitions.items():
        for key, value in definition.get("properties", {}).items():
            if value == {} and key != "if" and name != "component_attributes":
                failures.append(f"{section}: nothing is known of the values of '{key}' in {name}: add it to spec_examples.h")

for path in sorted(glob.glob(f"{repository}/tests/golden/*.json") + glob.glob(f"{repository}/tests/golden/**/result.json", recursive=True)):
    document = json.load(open(path))
    if document.get("schema") != "sluice.result/1":
        continue
    n_results += 1
    for error in validators["result"].iter_errors(document):
        failures.append(f"{os.path.relpath(path, repository)}: {'/'.join(map(str, error.absolute_path))}: {error.message[:200]}")

for arguments in (["map", "matmul", "simple", "--json"], ["map", "matmul", "simple", "--json", "--why"], ["map", "matmul", "simple", "--objective", "energy,latency", "--mapper", "random", "--budget", "100evals", "--json"],
                  ["evaluate", f"{repository}/tests/golden/examples/2_distributed_softmax.yaml", "--latency", "staged", "--json"],
                  ["execute", f"{repository}/tests/golden/examples/1_fused_attention.yaml", "--json"], ["map", "matmul", "nothing", "--json"]):
    document = json.loads(subprocess.run([sluice, *arguments], capture_output=True, text=True).stdout)
    n_results += 1
    for error in validators["result"].iter_errors(document):
        failures.append(f"sluice {' '.join(arguments)}: {'/'.join(map(str, error.absolute_path))}: {error.message[:200]}")

for expected in sorted(glob.glob(f"{repository}/tests/errors/cases/*.txt")):
    path = expected[:-4] + ".yaml"
    said = open(expected, encoding="utf-8").read()
    if not os.path.exists(path) or not STRUCTURE.search(said) or NOT_SEEN.search(said):
        continue
    try:
        found = [mistake(validators, document) for document in documents(path)]
    except (yaml.YAMLError, UnicodeDecodeError):
        continue
    n_refused += 1
    if not any(found):
        failures.append(f"{os.path.relpath(path, repository)} is valid, though: {said.splitlines()[0]}")

print("\n".join(failures))
print(f"schema: {n_valid} specs and {n_results} documents valid, {n_refused} mistakes of structure refused, {len(failures)} failures")
sys.exit(1 if failures else 0)
