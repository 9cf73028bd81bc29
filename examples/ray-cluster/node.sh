# The first steps on every server of the cluster.
umask 077
mkdir -p /root/cluster
cd /root/cluster || exit
# Ray rejects requests without the token, and does not start without the file.
export RAY_AUTH_MODE=token RAY_AUTH_TOKEN_PATH=/root/cluster/token
export DEBIAN_FRONTEND=noninteractive
until command -v ip && command -v sshd; do
  apt-get update -qq && apt-get install -y -qq iproute2 openssh-server
  sleep 1
done
until pip install -q "ray[default]==$RAY_VERSION"; do sleep 10; done

tunnel() { # DEVICE OWN-ADDRESS PEER-ADDRESS
  ip link show "$1" >/dev/null 2>&1 || ip tuntap add dev "$1" mode tun || {
    echo "Cannot create a TUN device, which the private network requires."
    exit 1
  }
  ip addr replace "$2" peer "$3" dev "$1" && ip link set "$1" up
}

# Ray exits after a minute without a connection to the head. The loop starts it again.
ray_on() { # ADDRESS ARGUMENTS...
  address=$1
  shift
  while :; do
    ray start "$@" --node-ip-address="$address" --node-manager-port=6380 --object-manager-port=6381 \
      --runtime-env-agent-port=6382 --min-worker-port=10002 --max-worker-port=10999 --block
    ray stop
    sleep 5
  done
}
