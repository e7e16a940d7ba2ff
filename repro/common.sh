# reproduce FOLDER ARGUMENTS…: runs FOLDER/reproduce.py. Builds what is missing unless --sluice FILE names a program.
reproduce() {
  local folder=$1 root python=python3
  shift
  root=$(cd "$folder/../.." && pwd)
  case " $* " in
    *" --sluice "* | *" --help "*) ;;
    *) "$root/dev" run --version >/dev/null && set -- --sluice "$root/build/release/sluice" "$@" ;;
  esac
  # Debian's python3-matplotlib belongs to Debian's Python, which need not be the first one.
  "$python" -c 'import matplotlib' 2>/dev/null || { [ ! -x /usr/bin/python3 ] || python=/usr/bin/python3; }
  PYTHONPATH="$root/repro" exec "$python" "$folder/reproduce.py" "$@"
}
