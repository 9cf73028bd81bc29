#!/bin/sh
# Runs a command against a simulator of the rental service that is started for it
# and stopped after it, whatever happens. Nothing is rented and nothing is paid.
#
#   ./with-simulator.sh COMMAND [ARGUMENTS...]
#   ./with-simulator.sh [SIMULATOR FLAGS...] -- COMMAND [ARGUMENTS...]
#
# The command finds GPURENT_BASE_URL and GPURENT_API_KEY, which the provider
# reads, and GPURENT_CONTROL_URL, through which the service is broken on purpose.
# The exit code is the command's. When it fails, the simulator's log is shown.
#
# The program is looked for on the PATH; GPURENT_PROVIDER names another one.
set -eu

usage() {
  echo "usage: $0 [SIMULATOR FLAGS... --] COMMAND [ARGUMENTS...]" >&2
  exit 2
}

# Arguments that begin with a flag are for the simulator, up to "--".
flags=0
case ${1-} in
-*)
  for argument in "$@"; do
    [ "$argument" = -- ] && break
    flags=$((flags + 1))
  done
  [ "$flags" -lt $(($# - 1)) ] || usage # a command must follow
  ;;
'') usage ;;
esac

program=${GPURENT_PROVIDER:-terraform-provider-gpurent}
command -v "$program" >/dev/null || {
  echo "$0: $program is not on the PATH" >&2
  exit 127
}

folder=$(mktemp -d)
pid=
finish() {
  status=$?
  trap - EXIT
  trap '' HUP INT TERM
  if [ -n "$pid" ]; then
    kill "$pid" 2>/dev/null || : # it may have ended by itself
    wait "$pid" || {
      echo "$0: the simulator ended by itself, with $?" >&2
      [ "$status" -ne 0 ] || status=1
    }
  fi
  if [ "$status" -ne 0 ]; then
    echo "$0: exit code $status. The simulator's log:" >&2
    cat "$folder/log" >&2
  fi
  rm -rf "$folder"
  exit "$status"
}
trap finish EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# simulate COUNT ARGUMENTS... becomes the simulator with the first COUNT of them.
simulate() {
  count=$1
  shift
  others=$(($# - count))
  while [ "$count" -gt 0 ]; do
    set -- "$@" "$1"
    shift
    count=$((count - 1))
  done
  shift "$others"
  exec "$program" simulator "$@"
}

# A process group of its own keeps Ctrl-C, which is for the command, from it.
: >"$folder/log"
mkfifo "$folder/ready"
set -m 2>/dev/null || :
simulate "$flags" "$@" </dev/null >"$folder/ready" 2>"$folder/log" &
pid=$!
set +m

# It prints one line of JSON once it accepts connections, and none when it fails.
read -r ready <"$folder/ready" || {
  echo "$0: the simulator does not start" >&2
  exit 1
}
value() { printf '%s\n' "$ready" | sed -n "s|.*\"$1\":\"\([^\"]*\)\".*|\1|p"; }
GPURENT_BASE_URL=$(value base_url)
GPURENT_API_KEY=$(value api_key)
GPURENT_CONTROL_URL=$(value control_url)
export GPURENT_BASE_URL GPURENT_API_KEY GPURENT_CONTROL_URL

if [ "$flags" -gt 0 ]; then shift "$flags"; fi
if [ "$1" = -- ]; then shift; fi
"$@"
