#!/usr/bin/env bash
# check.sh ROOT ARROWS: the habits of the house that a compiler does not see. Prints each breach and
# exits 1 if there is one. ARROWS has a line `module: dependency...` for each module.
set -euo pipefail
root=$1 arrows=$2
cd "$root"

longest_file=800
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

# 2. Third-party libraries stay where they belong, and out of the public headers.
check_third_party() {
  local rule pattern modules
  for rule in 'yaml-cpp/ frontend' 'nlohmann/ report|cli' 'CLI/ cli' 'spdlog/ report|cli' '(oneapi/)?tbb/ mapper'; do
    pattern=${rule% *} modules=${rule##* }
    { tracked 'include/*.h' 'src/*.h' 'src/*.cpp' | grep -vE "^src/($modules)/" | grep -E '^(include|src)/' |
      xargs grep -nE "^ *# *include [<\"]$pattern" /dev/null || true; } |
      sed "s|\$|   <- only in src/$modules|"
  done
}

# 3. No file so long that a second concept must have moved in.
check_lengths() {
  tracked '*.h' '*.cpp' '*.py' '*.sh' '*.cmake' dev |
    xargs awk -v limit="$longest_file" '
      FNR == limit + 1 { printf "%s: longer than %d lines\n", FILENAME, limit }'
}

# 4. No path of one machine.
check_paths() {
  tracked '*' | xargs grep -nIE '(^|[^A-Za-z0-9_.])/(work|root|home|Users|farm)/[A-Za-z]' /dev/null || true
}

for check in check_arrows check_third_party check_lengths check_paths; do
  while IFS= read -r line; do breach "$line"; done < <("$check")
done
if [ "$breaches" -gt 0 ]; then
  printf '%d breaches of the house rules\n' "$breaches"
  exit 1
fi
echo "the house is in order"
