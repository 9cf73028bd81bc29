#!/bin/sh
# Starts a simulator of the rental service, runs a command against it, and stops the
# simulator, even after errors and signals. Nothing is rented and nothing is billed.
#
#   ./with-simulator.sh COMMAND [ARGUMENTS...]
#   ./with-simulator.sh [SIMULATOR FLAGS...] -- COMMAND [ARGUMENTS...]
#
# The environment of the command contains GPURENT_BASE_URL and GPURENT_API_KEY for the
# provider, and GPURENT_CONTROL_URL for fault injection. The script returns the exit code
# of the command. If the command fails, the script prints the simulator's log.
#
# GPURENT_PROVIDER is the path of the provider's program, which contains the simulator.
# The default is terraform-provider-gpurent on the PATH.
set -eu

usage() {
  echo "usage: $0 [SIMULATOR FLAGS... --] COMMAND [ARGUMENTS...]" >&2
  exit 2
}

# If the first argument is a flag, the arguments before "--" are for the simulator.
flags=0
case ${1-} in
-*)
  for argument in "$@"; do
    [ "$argument" = -- ] && break
    flags=$((flags + 1))
  done
  [ "$flags" -lt $(($# - 1)) ] || usage # no command after the flags
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
  trap '' HUP INT TERM PIPE
  set +e # nothing may read the output any more
  ran=", which ran until then"
  if [ -n "$pid" ]; then
    kill "$pid" 2>/dev/null || : # it may have exited already
    wait "$pid" || {
      echo "$0: the simulator exited unexpectedly with exit code $?" >&2
      ran=
      [ "$status" -ne 0 ] || status=1
    }
  fi
  if [ "$status" -ne 0 ]; then
    echo "$0: ended with exit code $status. Log of the simulator$ran:" >&2
    cat "$folder/log" >&2
  fi
  rm -rf "$folder"
  exit "$status"
}
trap finish EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# simulate COUNT ARGUMENTS... replaces the shell with the simulator. The first COUNT
# arguments are its flags.
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

# With set -m, the simulator runs in a separate process group, so that Ctrl-C interrupts
# only the command.
: >"$folder/log"
mkfifo "$folder/ready"
set -m 2>/dev/null || :
simulate "$flags" "$@" </dev/null >"$folder/ready" 2>"$folder/log" &
pid=$!

# If the script is killed, this loop stops the simulator.
while kill -0 "$pid"; do
  kill -0 $$ || { rm -rf "$folder" && kill "$pid"; }
  sleep 1
done </dev/null >/dev/null 2>&1 &
set +m

# The simulator prints a line of JSON when it accepts connections, and no line if it fails.
read -r ready <"$folder/ready" || {
  echo "$0: the simulator did not start" >&2
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
