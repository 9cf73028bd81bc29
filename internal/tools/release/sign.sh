#!/usr/bin/env bash
# Signs the checksums of a release with the publisher's GPG key and verifies the
# signature. The release workflow and the rehearsal run this script. It runs only gpg and
# standard system tools, so that no build tool receives the key.
#
#   GPG_PRIVATE_KEY=KEY GPG_FINGERPRINT=FINGERPRINT sign.sh DIRECTORY SHA256
#
# SHA256 is the checksum of the verified list of checksums in DIRECTORY. The script signs
# nothing if the list or a file in it has changed since the verification.
set -euo pipefail

fail() {
  echo "sign.sh: $*" >&2
  exit 1
}

cd "$1"
verified=$2
key=$GPG_PRIVATE_KEY
unset GPG_PRIVATE_KEY # gpg reads the key from standard input

[[ $GPG_FINGERPRINT =~ ^[0-9A-F]{40}$ ]] || fail "GPG_FINGERPRINT is not a full fingerprint"
lists=(*_SHA256SUMS)
[[ ${#lists[@]} == 1 && -f ${lists[0]} ]] || fail "$1 must contain exactly one list of checksums"
sums=${lists[0]}
sha256sum --check --strict --quiet <<<"$verified  $sums" || fail "$sums differs from the verified list"
sha256sum --check --strict --quiet "$sums" || fail "a file does not match its verified checksum"

GNUPGHOME=$(mktemp -d)
export GNUPGHOME
trap 'gpgconf --kill all; rm -rf "$GNUPGHOME"' EXIT
gpg --batch --quiet --import <<<"$key"
gpg --batch --yes --local-user "$GPG_FINGERPRINT" --digest-algo SHA256 --output "$sums.sig" --detach-sign "$sums"

# Registries accept a signature of a binary document (00) by an RSA key (1). The last
# fingerprint is that of the primary key.
valid="^\[GNUPG:\] VALIDSIG [0-9A-F]{40} [^ ]+ [0-9]+ [0-9]+ [0-9]+ [0-9]+ 1 [0-9]+ 00 $GPG_FINGERPRINT$"
status=$(gpg --batch --status-fd 1 --verify "$sums.sig" "$sums")
grep -Eq "$valid" <<<"$status" || fail "$sums.sig is not an RSA signature by $GPG_FINGERPRINT"
