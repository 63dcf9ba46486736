# Shared by the scripts in this folder, which source it: where things are, what
# is said, how a build is made. Sets `root` and goes there.
# shellcheck shell=bash
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
cd "$root"
jobs=$(nproc)

# The traced process and its tests run as a user would run them.
unset "${!PYMEMRUN_@}" PYTHONPATH PYTHONHOME PYTHONSTARTUP PYTHONUNBUFFERED

say() { printf '\n== %s\n' "$*" >&2; }

# quietly LOG COMMAND...: the command's output goes to LOG, and is shown only
# when the command fails.
quietly() {
  local log=$1 status=0
  shift
  "$@" >"$log" 2>&1 || status=$?
  if [ "$status" -ne 0 ]; then
    cat "$log" >&2
    printf '%s: failed with %d: %s\n' "${0##*/}" "$status" "$*" >&2
  fi
  return "$status"
}

# mirror: the one that apt uses here for Debian 12, else Debian's own. It has the
# other suites, too.
mirror() {
  local found
  found=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' \
            'Created-By: Packages' 2>/dev/null |
          sed -n 's/^\(http:.*\) bookworm$/\1/p' | head -n 1 || true)
  echo "${found:-http://deb.debian.org/debian}"
}

# proxy_of_apt: sets http_proxy as apt has it here.
proxy_of_apt() {
  local proxy=
  eval "$(apt-config shell proxy Acquire::http::Proxy 2>/dev/null)"
  [ -z "$proxy" ] || export http_proxy=$proxy
}

# tell_progress LOG: says every 20 s how much ninja has built, until it is killed.
tell_progress() {
  local step
  while sleep 20 >/dev/null 2>&1; do
    step=$(grep -o '^\[[0-9]*/[0-9]*\]' "$1" 2>/dev/null | tail -n 1 || true)
    [ -z "$step" ] || printf '   built %s\n' "${step//[\[\]]/}" >&2
  done
}

# build FOLDER CMAKE_ARGS... [--target TARGETS...]: configures build/FOLDER and
# builds it; what compilers say is in build/FOLDER/build.log. One at a time per
# folder: a second one waits.
build() {
  local folder=$1 launcher configure=() targets=()
  shift
  while [ $# -gt 0 ] && [ "$1" != --target ]; do
    configure+=("$1")
    shift
  done
  targets=("$@")
  launcher=$(command -v ccache || true)
  mkdir -p "build/$folder"
  (
    flock 9
    quietly "build/$folder/configure.log" cmake "${configure[@]}" \
      "-DCMAKE_C_COMPILER_LAUNCHER=$launcher" "-DCMAKE_CXX_COMPILER_LAUNCHER=$launcher"
    : >"build/$folder/build.log"
    tell_progress "build/$folder/build.log" 9>&- &
    progress=$! status=0
    quietly "build/$folder/build.log" \
      cmake --build "build/$folder" --parallel "$jobs" "${targets[@]}" || status=$?
    kill "$progress" 2>/dev/null || true
    exit "$status"
  ) 9>"build/$folder/lock"
}
