#!/usr/bin/env bash
# run.sh BUILD: the tests of the Python package in BUILD/python. Status 77 (skipped) where it was not built.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$(cd "$1" && pwd)
python=$here/../../build/venv/bin/python
if ! ls "$build"/python/sluice/_sluice*.so >/dev/null 2>&1; then
  echo "python: SKIPPED (the package was not built: ./dev makes build/venv, which needs PyPI for nanobind)"
  exit 77
fi
[ -x "$python" ] || python=python3
if ! "$python" -c 'import pytest' 2>/dev/null; then
  echo "python: SKIPPED (python3-pytest is not installed)"
  exit 77
fi
export PYTHONPATH="$build/python" PYTHONDONTWRITEBYTECODE=1 MPLBACKEND=Agg
log=$(mktemp)
status=0
"$python" -m pytest -q -p no:cacheprovider -W ignore::DeprecationWarning -o faulthandler_timeout=150 --durations=5 "$here" "${@:2}" | tee "$log" || status=$?
echo "python: $(tail -1 "$log" | tr -d '=' | xargs)"
rm -f "$log"
exit "$status"
