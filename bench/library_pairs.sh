#!/usr/bin/env bash
# Every library workload on every library architecture: maps it, evaluates the mapping that was
# written, and compares the two documents' mappings to the last digit.
# Usage: bench/library_pairs.sh PATH_OF_SLUICE [SECONDS_EACH (default 60)]
# One line a pair: status of `map`, seconds, SAME or DIFFERENT. Status 1 if any pair differs or ends
# other than with a mapping (0) or an honest no (1).
set -u
sluice=${1:?path of the sluice program}
limit=${2:-60}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

mappings_of() { sed -n '/^  "mappings": \[/,/^  \],/p' "$1"; }

for architecture in "$root"/library/architectures/*.yaml; do
  case $(basename "$architecture") in comet_*) continue ;; esac  # networks, which `fused` does not know
  for workload in "$root"/library/workloads/*.yaml; do
    begin=$SECONDS
    rm -rf "$folder/out"
    timeout "$limit" "$sluice" map "$workload" "$architecture" -o "$folder/out" \
      >/dev/null 2>"$folder/messages"
    status=$?
    seconds=$((SECONDS - begin))
    verdict=-
    if [ $status -eq 0 ]; then
      "$sluice" evaluate "$workload" "$architecture" "$folder/out/mapping.yaml" --json \
        >"$folder/evaluated.json" 2>>"$folder/messages"
      if cmp -s <(mappings_of "$folder/out/result.json") <(mappings_of "$folder/evaluated.json"); then
        verdict=SAME
      else
        verdict=DIFFERENT
      fi
    fi
    printf '%-20s %-12s %3d %5d s  %s\n' "$(basename "$workload" .yaml)" \
      "$(basename "$architecture" .yaml)" $status "$seconds" "$verdict"
    [ $status -le 1 ] && [ $verdict != DIFFERENT ] && continue
    failed=1
    head -n 2 "$folder/messages"
  done
done
exit $failed
