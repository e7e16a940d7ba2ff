#!/usr/bin/env bash
# run.sh SLUICE: pages of `sluice report` in headless Chromium. Status 77 (skipped) where there is none.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
chromium=$(command -v chromium || command -v chromium-browser || true)
for python in python3 /usr/bin/python3; do
  if [ -n "$chromium" ] && command -v "$python" >/dev/null && "$python" -c 'import websocket' 2>/dev/null; then
    exec "$python" "$here/report_test.py" "$1" "$chromium" ${2:+"$2"}
  fi
done
echo "browser: SKIPPED (chromium or python3-websocket is not installed: ./dev setup browser)"
exit 77
