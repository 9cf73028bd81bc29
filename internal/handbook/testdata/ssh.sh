#!/bin/sh
# Replaces ssh in the tests of the examples. It runs the command in a folder with the name of the server's port, which has
# the server's host key, and appends its arguments to the file asked.
echo "$*" >>"$HOME/asked"
port= command=
while test $# -gt 0; do
  case $1 in
  -p) port=$2; shift ;;
  -o | -L) shift ;;
  -N | root@*) ;;
  *) command=$1 ;;
  esac
  shift
done
test -n "$command" || exit 0
mkdir -p "$HOME/$port"
echo "ssh-ed25519 HOST$port" >"$HOME/$port/host_key.pub"
echo "ssh-ed25519 KEY$port" >"$HOME/$port/key.pub"
sh -c "$(echo "$command" | sed "s#/root/cluster#'$HOME/$port'#g")"
