#!/bin/sh
# Rents a server, waits until its job ends, downloads the result to result.tar.gz, and
# destroys the server, even after errors and signals.
#
#   ./run.sh           runs the job
#   ./run.sh destroy   destroys what an earlier run has left
#
# The exit code is 0 only if the result was downloaded and the server was destroyed. TF is
# the CLI: terraform (the default) or tofu. The script requires curl.
set -eu
cd "$(dirname "$0")"
TF=${TF:-terraform}
export TF_INPUT=0
TF_VAR_token=$(od -An -N24 -tx1 /dev/urandom | tr -d ' \n')
export TF_VAR_token

# cli ARGUMENTS... runs the CLI. With set -m, it runs in a separate process group, so that
# only "interrupted" sends it a signal: after a second signal, it would not save the state.
pid=
cli() {
  set -m 2>/dev/null || :
  "$TF" "$@" </dev/null &
  pid=$!
  set +m
  code=0
  wait "$pid" || code=$?
  pid=
  return "$code"
}

# Change this function if the job writes its result elsewhere.
fetch() {
  curl -fsS --retry 5 -o result.tar.gz "$("$TF" output -raw result)"
}

destroy() {
  for pause in 10 60 0; do
    cli destroy -auto-approve -refresh=false && return # without reading the log of a failed job
    sleep "$pause"
  done
  echo "$0: the server may still be billed. Run $0 destroy" >&2
  return 1
}

# interrupted CODE interrupts the CLI, which saves the state.
interrupted() {
  trap '' HUP INT TERM
  if [ -n "$pid" ]; then
    kill -TERM "$pid" 2>/dev/null || : # it may have ended
    wait "$pid" || :
  fi
  exit "$1"
}

finish() {
  status=$?
  trap - EXIT
  trap '' HUP INT TERM
  destroy || status=1
  exit "$status"
}

case ${1-} in
'') ;;
destroy)
  destroy
  exit
  ;;
*)
  echo "usage: $0 [destroy]" >&2
  exit 2
  ;;
esac

rm -f result.tar.gz
trap finish EXIT
trap 'interrupted 129' HUP
trap 'interrupted 130' INT
trap 'interrupted 143' TERM
cli apply -auto-approve
fetch
