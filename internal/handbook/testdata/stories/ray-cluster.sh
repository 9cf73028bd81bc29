# join.sh gives access to the current workers only, even after another head.

# joined: runs join.sh and checks what it writes on the servers, which have a folder for their port.
joined() {
  ./join.sh
  head=$(instance ray-head .ssh.port) admitted=
  for n in 0 1; do
    port=$(member "ray-worker-$n" .ssh_port)
    expect "$(cat ray-token)" "$(cat ~/"$port"/token)"
    expect "$((n + 1))" "$(cat ~/"$port"/number)"
    expect "ray-head ssh-ed25519 HOST$head" "$(cat ~/"$port"/known_hosts)"
    # The simulator assigns the port after SSH to the first port of the template.
    expect "$(instance ray-head .ssh.host) $((head + 1))" "$(cat ~/"$port"/tunnel_address)"
    admitted="${admitted}restrict,tunnel=\"$((n + 1))\" ssh-ed25519 KEY$port "
  done
  expect "$(cat ray-token)" "$(cat ~/"$head"/token)"
  expect "$admitted" "$(tr '\n' ' ' <~/"$head"/authorized_keys)"
}

# starts ROLE PORT TEXT...: the start command of a role's template, in the folder of a server, runs programs with
# these arguments. The programs only log them; ssh and ray also end the endless loop.
starts() {
  mkdir -p fake
  for program in ip pip sshd ssh-keygen ssh ray; do
    printf '#!/bin/sh\necho "%s $*" >>"$LOG"\n' "$program" >"fake/$program"
  done
  echo 'kill $PPID' >>fake/ssh
  echo 'echo "mode=$RAY_AUTH_MODE token=$(cat "$RAY_AUTH_TOKEN_PATH")" >>"$LOG"; test "$1" = start || kill $PPID' >>fake/ray
  chmod +x fake/*
  command=$(jq -r --arg role "$1" '.resources[] | select(.type == "gpurent_template").instances[].attributes |
    select(.name | endswith($role)).onstart' terraform.tfstate)
  if printf %s "$command" | grep -F -e "$(cat ray-token)"; then exit 1; fi
  command=$(printf %s "$command" | sed "s#/root/cluster.log#'$PWD/$1.out'#g; s#/root/cluster#'$HOME/$2'#g
    s#/run/sshd#'$PWD/fake/run'#g; s#/proc/sys/net/ipv4/ip_forward#'$PWD/fake/forward'#g")
  log=$PWD/$1.log
  LOG=$log PATH=$PWD/fake:$PATH sh -c "${command% &}" || true
  shift 2
  for text in "$@"; do # some programs run in the background
    for _ in $(seq 100); do grep -q -F -e "$text" "$log" && break || sleep 0.1; done
    grep -F -e "$text" "$log"
  done
}

kept=$(member ray-worker-1 .id)
"$TF" apply # destroys the worker that the README has added
joined
"$TF" apply -replace=gpurent_instance.head
joined
expect "$kept" "$(member ray-worker-1 .id)"
token="mode=token token=$(cat ray-token)"
starts head "$head" 'sshd -f /dev/null -p 2222 ' PermitTunnel=point-to-point AllowTcpForwarding=no \
  ForceCommand=/bin/false 'ray start --head --port=6379 --dashboard-host=127.0.0.1 ' '--node-ip-address=10.77.0.1 ' "$token"
starts worker "$(member ray-worker-1 .ssh_port)" '-w 0:2 ' "-p $((head + 1)) " StrictHostKeyChecking=yes \
  "root@$(instance ray-head .ssh.host)" 'ray start --address=10.77.0.1:6379 --node-ip-address=10.77.0.3 ' "$token" \
  'ip addr replace 10.77.0.3 peer 10.77.0.1 dev tun0'

# The cluster continues without a worker that was outbid and costs more than its cap, but not without all workers.
control PATCH "offers/$(member ray-worker-0 .offer_id)" '{"interruptible_kop_h": 9500}'
"$TF" apply -no-color >apply.log 2>&1
prints apply.log 'Fleet ray-worker is not complete' 'costs 95.00 ₽ per hour'
control PATCH "offers/$(member ray-worker-1 .offer_id)" '{"interruptible_kop_h": 9500}'
fails 'Fleet ray-worker has too few ready members' "$TF" apply -no-color
