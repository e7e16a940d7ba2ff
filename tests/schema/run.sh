#!/usr/bin/env bash
# run.sh SLUICE: spec files and documents against `sluice schema`. Status 77 (skipped) without python3-jsonschema.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
for python in python3 /usr/bin/python3; do
  if command -v "$python" >/dev/null && "$python" -c 'import jsonschema, yaml' 2>/dev/null; then
    exec "$python" "$here/schema_test.py" "$1"
  fi
done
echo "schema: SKIPPED (python3-jsonschema or python3-yaml is not installed: ./dev setup)"
exit 77
