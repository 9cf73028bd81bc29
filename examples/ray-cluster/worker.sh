# join.sh writes the number of the worker, the address of the head and its host key.
test -s key || ssh-keygen -q -t ed25519 -N '' -f key
until test -s tunnel_address; do sleep 2; done
read -r n <number
tunnel tun0 "10.77.0.$((n + 1))" 10.77.0.1
ip route replace 10.77.0.0/24 via 10.77.0.1

while :; do
  # The address of the head can change when the head restarts. join.sh updates the file.
  read -r host port <tunnel_address
  ssh -N -w "0:$n" -p "$port" -i key -o Tunnel=point-to-point -o ExitOnForwardFailure=yes \
    -o HostKeyAlias=ray-head -o UserKnownHostsFile=/root/cluster/known_hosts -o StrictHostKeyChecking=yes \
    -o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=15 "root@$host"
  sleep 5
done &

ray_on "10.77.0.$((n + 1))" --address=10.77.0.1:6379
