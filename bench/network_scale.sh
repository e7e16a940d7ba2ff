#!/usr/bin/env bash
# How commands grow with a network: GPT-3 175B and its training step with Adam, of 8 to 64 layers, on edge_33tops.
# Usage: bench/network_scale.sh PATH_OF_SLUICE [LAYERS...]
# One line a command: Einsums, seconds, seconds of CPU, MB. Status 1 if a command fails.
set -eu
sluice=${1:?path of the sluice program}
shift
[ $# -gt 0 ] || set -- 8 16 32 64
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

measure() {  # measure NAME ARGUMENT...
  local name=$1
  shift
  /usr/bin/time -o "$folder/time" -f '%e s, %U s of CPU, %M KB' "$sluice" "$@" >"$folder/out" 2>"$folder/err" ||
    { cat "$folder/err" >&2; exit 1; }
  printf '%-10s %s\n' "$name" "$(cat "$folder/time")"
}

for layers in "$@"; do
  for step in "" "--training --optimizer adam"; do
    # shellcheck disable=SC2086  # none or several words
    specs=(--set "N_LAYERS=$layers" $step)
    echo "$layers layers $step: $("$sluice" check gpt3_175b "${specs[@]}")"
    measure check check gpt3_175b "${specs[@]}"
    measure show show gpt3_175b "${specs[@]}"
    measure map map gpt3_175b edge_33tops --mapper layers "${specs[@]}" -o "$folder/map"
    measure evaluate evaluate gpt3_175b edge_33tops "$folder/map/mapping.yaml" "${specs[@]}"
    measure drawing show gpt3_175b edge_33tops "$folder/map/mapping.yaml" "${specs[@]}"
    rm -rf "$folder/map"
  done
done
