#!/bin/sh
# Lets the workers into the head's network and gives every server the token of the
# cluster, over SSH. To run it again does no harm: do so whenever a server is new
# or the head has another address.
set -eu

nodes=$(${TF:-terraform} output -raw nodes)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
umask 077

# The token stays in this folder: whoever has it, and a way into the network, runs code on every server.
test -s ray-token || od -An -N32 -tx1 /dev/urandom | tr -d ' \n' >ray-token

on() { # HOST PORT COMMAND
  ssh -o StrictHostKeyChecking=accept-new -p "$2" "root@$1" "umask 077; cd /root/cluster && $3"
}

# A server that has just started has no key yet.
fetch() { # HOST PORT FILE
  on "$1" "$2" "for i in \$(seq 100); do test -s $3 && break; sleep 3; done; cat $3" </dev/null
}

echo "$nodes" >"$work/nodes"
read -r zero head_host head_port gate_host gate_port <"$work/nodes"
if test "$zero" != 0; then
  echo "The head does not run: apply first." >&2
  exit 1
fi
echo "ray-head $(fetch "$head_host" "$head_port" host_key.pub)" >"$work/known_hosts"

: >"$work/authorized_keys"
while read -r n host port _; do
  test "$n" != 0 || continue
  echo "restrict,tunnel=\"$n\" $(fetch "$host" "$port" key.pub)" >>"$work/authorized_keys"
  on "$host" "$port" 'cat >token' <ray-token
  on "$host" "$port" 'cat >known_hosts' <"$work/known_hosts"
  echo "$n" | on "$host" "$port" 'cat >number'
  echo "$gate_host $gate_port" | on "$host" "$port" 'cat >gate'
  echo "worker-$n may join"
done <"$work/nodes"

# Written last, and whole: a worker that is not in the list is let in no more.
on "$head_host" "$head_port" 'cat >authorized_keys' <"$work/authorized_keys"
on "$head_host" "$head_port" 'cat >token' <ray-token
