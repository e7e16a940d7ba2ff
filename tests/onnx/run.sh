#!/usr/bin/env bash
# run.sh SLUICE GRAPHS: small graphs against ONNX's reference evaluator; counts of the graphs in the folder
# GRAPHS against an independent count. Status 77 (skipped) where there is no `onnx` package for Python.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
sluice=$1 graphs=$2
for python in python3 /usr/bin/python3; do
  if command -v "$python" >/dev/null && "$python" -c 'import numpy, onnx' 2>/dev/null; then
    status=0
    "$python" "$here/small_graphs.py" "$sluice" || status=1
    if compgen -G "$graphs/*.onnx" >/dev/null; then
      "$python" "$here/real_graphs.py" "$sluice" "$graphs"/*.onnx || status=1
    else
      echo "real graphs: SKIPPED (there are none in $graphs)"
    fi
    exit $status
  fi
done
echo "onnx: SKIPPED (python3-onnx is not installed)"
exit 77
