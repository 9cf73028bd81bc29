#!/bin/sh
# Authorizes the workers in the head's network and copies the token of the cluster to
# every server, over SSH. The script is idempotent. Run it again after a server is created
# or the address of the head changes.
set -eu

nodes=$(${TF:-terraform} output -raw nodes)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
umask 077

# The token is stored in this folder. It is a secret: anyone with the token and access to
# the network can run code on every server.
test -s ray-token || od -An -N32 -tx1 /dev/urandom | tr -d ' \n' >ray-token

on() { # HOST PORT COMMAND
  ssh -o StrictHostKeyChecking=accept-new -p "$2" "root@$1" "umask 077; cd /root/cluster && $3"
}

# Waits for the file, because a server creates its key only after it has started.
fetch() { # HOST PORT FILE
  on "$1" "$2" "for i in \$(seq 100); do test -s $3 && break; sleep 3; done; cat $3" </dev/null
}

echo "$nodes" >"$work/nodes"
read -r zero head_host head_port tunnel_host tunnel_port <"$work/nodes"
if test "$zero" != 0; then
  echo "The head is not running, or its port 2222 has no address yet. Run terraform apply first." >&2
  exit 1
fi
key=$(fetch "$head_host" "$head_port" host_key.pub)
echo "ray-head $key" >"$work/known_hosts"

: >"$work/authorized_keys"
while read -r n host port _; do
  test "$n" != 0 || continue
  key=$(fetch "$host" "$port" key.pub)
  echo "restrict,tunnel=\"$n\" $key" >>"$work/authorized_keys"
  on "$host" "$port" 'cat >token' <ray-token
  on "$host" "$port" 'cat >known_hosts' <"$work/known_hosts"
  echo "$n" | on "$host" "$port" 'cat >number'
  echo "$tunnel_host $tunnel_port" | on "$host" "$port" 'cat >tunnel_address'
  echo "worker $n is configured"
done <"$work/nodes"

# Replaces the whole list after the loop, so that removed workers lose access.
on "$head_host" "$head_port" 'cat >authorized_keys' <"$work/authorized_keys"
on "$head_host" "$head_port" 'cat >token' <ray-token
