#!/usr/bin/env bash
# run.sh SLUICE: the library's workloads against NumPy. Status 77 (skipped) where there is no NumPy.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
for python in python3 /usr/bin/python3; do
  if command -v "$python" >/dev/null && "$python" -c 'import numpy' 2>/dev/null; then
    exec "$python" "$here/library_numbers.py" "$1"
  fi
done
echo "numpy: SKIPPED (python3-numpy is not installed)"
exit 77
