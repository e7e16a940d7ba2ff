#!/usr/bin/env bash
# check.sh ROOT ARROWS: the habits of the house that a compiler does not see. Prints each breach and
# exits 1 if there is one. ARROWS has a line `module: dependency...` for each module.
set -euo pipefail
root=$1 arrows=$2
cd "$root"

rooms="$root/tests/house/rooms.txt"
longest_file=800
most_sources=25
breaches=0
breach() { printf '%s\n' "$*"; breaches=$((breaches + 1)); }

tracked() {  # tracked PATTERN...: files of the repository; without git, of the source tree
  if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    git ls-files --cached --others --exclude-standard -- "$@" | while read -r file; do [ ! -f "$file" ] || printf '%s\n' "$file"; done
  else
    local pattern
    for pattern in "$@"; do find . -name build -prune -o -type f -name "${pattern##*/}" -print | sed 's|^\./||'; done
  fi
}

# 1. Module arrows: an #include may only name the own module or one of its dependencies.
check_arrows() {
  tracked 'include/*.h' 'src/*.h' 'src/*.cpp' | grep -E '^(include/sluice|src)/' | sort -u |
    xargs awk '
      FNR == NR {
        module = $1; sub(/:$/, "", module); known[module] = 1; allowed[module, module] = 1
        for (i = 2; i <= NF; ++i) allowed[module, $i] = 1
        next
      }
      FNR == 1 { split(FILENAME, part, "/"); own = part[1] == "src" ? part[2] : part[3] }
      /^[ \t]*#[ \t]*include[ \t]*["<]/ {
        path = $0; sub(/^[^"<]*["<]/, "", path); sub(/[">].*/, "", path)
        sub(/^sluice\//, "", path)
        used = path; if (!sub(/\/.*/, "", used)) next
        if ((used in known) && !((own, used) in allowed))
          printf "%s:%d: module %s must not use %s\n", FILENAME, FNR, own, used
      }' "$arrows"
}

# 2. Room arrows: the same for the folders inside a module, which tests/house/rooms.txt lists. A public
# header is at home in the room that has the source of its name: src/mapper/run/run_mapper.cpp.
check_rooms() {
  awk '
    NF == 0 || /^#/ { next }
    { room = $1; sub(/:$/, "", room); known[room] = 1
      for (i = 2; i <= NF; ++i)
        if (!($i in known)) printf "tests/house/rooms.txt:%d: %s uses %s, which stands on no line above\n", FNR, room, $i }' "$rooms"
  tracked 'include/*.h' 'src/*.h' 'src/*.cpp' | grep -E '^(include/sluice|src)/' | sort -u |
    xargs awk '
      function exists(path,  line, found) { found = (getline line < path) >= 0; close(path); return found }
      function folder(path) { sub(/\/[^\/]*$/, "", path); return path }
      function module(path) { sub(/\/.*/, "", path); return path }
      FNR == NR {
        if (NF == 0 || /^#/) next
        room = $1; sub(/:$/, "", room); known[room] = 1; has_rooms[module(room)] = 1
        for (i = 2; i <= NF; ++i) allowed[room, $i] = 1
        next
      }
      FNR == 1 {
        is_public = FILENAME ~ /^include\//
        own = is_public ? substr(FILENAME, 9) : folder(substr(FILENAME, 5))
        name = FILENAME; sub(/.*\//, "", name); sub(/\.cpp$/, ".h", name)
        if (!is_public && FILENAME ~ /\.cpp$/ && exists("include/sluice/" module(own) "/" name))
          home["sluice/" module(own) "/" name] = own
        if (!is_public && module(own) in has_rooms && !(own in known) && !(own in told)) {
          printf "src/%s: not in tests/house/rooms.txt\n", own
          told[own] = 1
        }
      }
      /^[ \t]*#[ \t]*include[ \t]*"/ {
        path = $0; sub(/^[^"]*"/, "", path); sub(/".*/, "", path)
        if (path !~ /\//) next
        if (path ~ /^sluice\//) { ++n_public; at[n_public] = FILENAME ":" FNR; from[n_public] = own; to[n_public] = path; next }
        beside = folder(FILENAME) "/" path
        if ((getline line < beside) > 0) printf "%s:%d: write the path of %s from src\n", FILENAME, FNR, path
        close(beside)
        used = folder(path)
        if ((used in known) && used != own && module(used) == module(own) && !((own, used) in allowed))
          printf "%s:%d: room %s must not use %s\n", FILENAME, FNR, own, used
      }
      END {
        for (i = 1; i <= n_public; ++i) {
          room = (from[i] in home) ? home[from[i]] : from[i]; used = home[to[i]]
          if (used != "" && (room in known) && room != used && module(room) == module(used) && !((room, used) in allowed))
            printf "%s: room %s must not use %s, where %s is at home\n", at[i], room, used, to[i]
        }
      }' "$rooms"
}

# 3. No folder so full that its name says little.
check_folders() {
  tracked 'include/*.h' 'src/*.h' 'src/*.cpp' 'tests/*.h' 'tests/*.cpp' | grep -E '^(include|src|tests)/' |
    sort -u | sed 's|/[^/]*$||' | awk -v limit="$most_sources" '
      { ++n[$0] }
      END { for (f in n) if (n[f] > limit) printf "%s: %d sources side by side, more than %d\n", f, n[f], limit }'
}

# 4. Third-party libraries stay where they belong, and out of the public headers.
check_third_party() {
  local rule pattern modules
  for rule in 'yaml-cpp/ frontend' 'libconfig frontend' 'nlohmann/ kapla|report|sweep|cli' 'sqlite3 sweep' 'xxhash sweep' 'CLI/ cli' 'spdlog/ report|cli' '(oneapi/)?tbb/ mapper' '(onnx|google/protobuf)/ onnx_graph'; do
    pattern=${rule% *} modules=${rule##* }
    { tracked 'include/*.h' 'src/*.h' 'src/*.cpp' | grep -vE "^src/($modules)/" | grep -E '^(include|src)/' |
      xargs grep -nE "^ *# *include [<\"]$pattern" /dev/null || true; } |
      sed "s#\$#   <- only in src/${modules/|/, src/}#"
  done
}

# 5. No file so long that a second concept must have moved in.
check_lengths() {
  tracked '*.h' '*.cpp' '*.py' '*.sh' '*.cmake' dev |
    xargs awk -v limit="$longest_file" '
      FNR == limit + 1 { printf "%s: longer than %d lines\n", FILENAME, limit }'
}

# 6. No path of one machine.
check_paths() {
  tracked '*' | xargs grep -nIE '(^|[^A-Za-z0-9_.])/(work|root|home|Users|farm)/[A-Za-z]' /dev/null || true
}

# 7. No half of a merge that nobody decided.
check_merges() {
  tracked '*' | xargs grep -nIE '^(<<<<<<<|>>>>>>>) ' /dev/null || true
}

for check in check_arrows check_rooms check_folders check_third_party check_lengths check_paths check_merges; do
  while IFS= read -r line; do breach "$line"; done < <("$check")
done
if [ "$breaches" -gt 0 ]; then
  printf '%d breaches of the house rules\n' "$breaches"
  exit 1
fi
echo "the house is in order"
