# The head has the address 10.77.0.1 in the private network. Worker N uses the device tunN.
for n in $(seq 1 32); do tunnel "tun$n" 10.77.0.1 "10.77.0.$((n + 1))"; done
echo 1 >/proc/sys/net/ipv4/ip_forward # the head routes traffic between the workers

# The keys that join.sh authorizes can only open a tunnel.
test -s host_key || ssh-keygen -q -t ed25519 -N '' -f host_key
mkdir -p /run/sshd
"$(command -v sshd)" -f /dev/null -p 2222 -h /root/cluster/host_key -o PidFile=none \
  -o AuthorizedKeysFile=/root/cluster/authorized_keys -o PermitTunnel=point-to-point \
  -o AuthenticationMethods=publickey -o PermitRootLogin=prohibit-password \
  -o AllowTcpForwarding=no -o ForceCommand=/bin/false -o ClientAliveInterval=15

until test -s token; do sleep 2; done
ray_on 10.77.0.1 --head --port=6379 --dashboard-host=127.0.0.1 --dashboard-port=8265
