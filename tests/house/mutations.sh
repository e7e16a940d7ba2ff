#!/usr/bin/env bash
# mutations.sh ROOT BUILD [PATTERN]: breaks src/model/price/charges.h in one place at a time, and expects each of the
# three tests of tests/property/mapper/price_law_test.cpp to fail: of evaluate, of batches, of fused. PATTERN
# chooses mutations by name. Writes nothing to ROOT or BUILD, where the program `property` must be up to date. A
# mutation takes the better part of a minute: `./dev mutate` tries all of them, `./dev test` one.
set -euo pipefail
root=$1 build=$2 pattern=${3:-.}
header=model/price/charges.h
tests=(HoldsForEvaluate HoldsForBatches HoldsForFused)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/src/${header%/*}"
cd "$build"
command -v ninja >/dev/null && [ -f build.ninja ] || { echo "this build does not use ninja"; exit 77; }

# Name, then what `sed` does to the header.
mutations() {
  cat <<'TEXT'
merging reads are free                        s/account_.sum(traffic.reads, traffic.merge_reads)/traffic.reads/
merging takes no time                         s/account_.sum(traffic.unit_reads, traffic.unit_merge_reads)/traffic.unit_reads/
writes are charged as reads                   s/call(storage, bound.write_action/call(storage, bound.read_action/
reads do not count                            s/call(storage, bound.read_action, traffic.reads, traffic.unit_reads, instances)/(void)0/
a call moves one bit                          s/{bits, bits_moved_by(of, bits)}/{bits, 1}/
a value has one bit                           s/{bits, bits_moved_by(of, bits)}/{1, bits_moved_by(of, bits)}/
parts of whole actions cost their part        s/component.has_whole_actions() ? &traffic.instances : nullptr/nullptr/
calls of memories cost nothing                s/ of.energy_j});/ 0});/
computing costs nothing                       s/\(arch\[compute\]\.actions\[action\]\.energy_j\)/0 * problem_.\1/;s/problem_\.0/0/
computing takes no time                       s/^\( *\)traffic.unit_operations,/\1BasicNestTraffic<Value>{}.unit_operations,/
hops cost nothing                             s/network.hop_energy_j}/0}/
half hops are whole ones                      s/{bits \/ 2, network/{bits, network/
networks wake nobody                          s/account_.uses(traffic.network)/(void)0/
memories wake nobody                          s/account_.uses(storage.component)/(void)0/
untimed networks take time                    s/if (network.implicit_time == ImplicitTime::kNone) return;//
what goes down takes no link                  s/add_links(traffic.down_loads, bits, load.down)/(void)0/
what goes up takes no link                    s/add_links(traffic.up_loads, bits, load.up)/(void)0/
everything waits once for all receivers       s/ImplicitTime::kReceivers ?/ImplicitTime::kOnce ?/
routers take no time                          s/{network.router_latency_s, 1}/{0, 1}/
messages have no queue                        s/{network.queue_latency_s \* bits,/{0 * bits,/
gated components always leak                  s/if (!used.leaks(/if (false \&\& used.leaks(/
nothing leaks                                 s/return problem\[einsum\].components\[component\].instances/return 0/
ports are shared                              s/visit(separate ? a : 0, a/visit(0, a/
throughputs are times                         s/return calls == 0 ? 0 : calls \/ factor/return calls * factor/;s/divides ? 1 \/ factor : factor/factor/
TEXT
}

# Objects that compile code of the header, and how each of them is made.
objects=$(ninja -t deps | awk -v header="src/$header" '
  /^[^ ]/ { object = $1; sub(/:$/, "", object) }
  index($1, header) && object ~ /sluice_(model|mapper)\.dir/ { print object }')
[ -n "$objects" ] || { echo "nothing is compiled with $header"; exit 1; }
link=$(ninja -t commands property | tail -1 | sed -E 's/^: && //; s/ && :$//; s/ -o property / /')
# The object that has the test, by itself or among others.
test_object=$(ninja -t deps | awk -v link="$link" '
  /^[^ ]/ { object = $1; sub(/:$/, "", object) }
  $1 ~ /price_law_test\.cpp$/ && index(link, " " object " ") { print object }')
libraries=$(tr ' ' '\n' <<<"$link" | grep -E '\.a$|\.so|^-' | grep -v whole-archive | xargs)

# As the build does, but with the broken header in front of the true one, and quickly.
compile() {  # compile OBJECT
  local command
  command=$(ninja -t commands "$1" | tail -1 | sed -E "s/^ccache //; s# -I# -I$work/src -I#; s/ -M[FT] [^ ]+//g; s/ -MD//; s# -o $1# -O0 -w -o $work/${1//\//_}#")
  eval "$command"
}

# Prints which tests pass though they should not.
survivors() {
  local test
  for test in "${tests[@]}"; do
    if "$work/price_law" --gtest_brief=1 --gtest_filter="*PriceLaw.$test/*" >"$work/log" 2>&1; then echo "$test"; fi
  done
}

tried=0 failed=0
while read -r line; do
  name=${line%%  *} edit=${line##*  }
  grep -qE "$pattern" <<<"$name" || continue
  tried=$((tried + 1))
  sed "$edit" "$root/src/$header" >"$work/src/$header"
  if cmp -s "$work/src/$header" "$root/src/$header"; then
    echo "$name: there is no such line any more"; failed=$((failed + 1)); continue
  fi
  for object in $objects; do compile "$object"; done
  # What stands in these objects is not taken from the libraries.
  eval "${link%% *} $test_object $work/*.o $libraries -o $work/price_law"
  alive=$(survivors | xargs)
  echo "$name: ${alive:+NOT NOTICED by }${alive:-noticed}"
  [ -z "$alive" ] || failed=$((failed + 1))
done < <(mutations)
echo "$tried mutations, $failed of them not noticed by every test"
[ "$tried" -gt 0 ] && [ "$failed" = 0 ]
