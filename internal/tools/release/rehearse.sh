#!/usr/bin/env bash
# Performs the steps of a release without the publisher's key, a tag or a network. It uses the last commit.
#
#   rehearse.sh check          check .goreleaser.yml
#   rehearse.sh snapshot       build all platforms into dist/, sign it with a temporary key, and verify it
#   rehearse.sh reproducible   build one commit for this platform in two folders, and compare every byte
#
# The rehearsal creates no SPDX files, which need Syft, and no Sigstore signature and provenance, which need a network.
set -euo pipefail
cd "$(dirname "$0")/../../.."

goreleaser=$(go tool -modfile=internal/tools/release/go.mod -n goreleaser)
work=$(mktemp -d)
trap 'gpgconf --kill all; rm -rf "$work"' EXIT
export GNUPGHOME=$work/gnupg
[[ -z $(git status --porcelain) ]] || echo "Uncommitted changes are not included."

# clone FOLDER: GoReleaser requires a remote with the name of the repository. It is not contacted.
clone() {
  git clone --quiet . "$1"
  git -C "$1" remote set-url origin https://github.com/gpurent/terraform-provider-gpurent.git
}

# build FOLDER [OPTION...]: build and pack the clone in the folder.
build() {
  (cd "$1" && shift && "$goreleaser" release --snapshot --clean --skip=sbom "$@")
}

case ${1:-} in
check)
  clone "$work/clone"
  (cd "$work/clone" && "$goreleaser" check)
  ;;
snapshot)
  clone "$work/clone"
  build "$work/clone"
  rm -rf dist
  mv "$work/clone/dist" dist
  lists=(dist/*_SHA256SUMS)
  sums=${lists[0]}
  # The files of the clone, because this folder can have a newer commit by now.
  cp "$work/clone/terraform-registry-manifest.json" "${sums%_SHA256SUMS}_manifest.json"
  "$work/clone/internal/tools/release/verify.sh" "$PWD/dist"
  mkdir -m 700 "$GNUPGHOME"
  gpg --batch --quiet --passphrase '' --quick-generate-key Rehearsal rsa2048 sign never
  fingerprint=$(gpg --list-keys --with-colons | sed -n 's/^fpr:*\([0-9A-F]*\):$/\1/p')
  GPG_PRIVATE_KEY=$(gpg --batch --armor --export-secret-keys) GPG_FINGERPRINT=$fingerprint \
    internal/tools/release/sign.sh dist "$(sha256sum "$sums" | cut --delimiter=' ' --fields=1)"
  gpg --verify "$sums.sig" "$sums"
  ;;
reproducible)
  for folder in "$work/one" "$work/deeper/two"; do
    clone "$folder"
    # For this platform only. The configuration stays committed as it is, because a changed clone would be a dirty build.
    sed "s/^    goos: .*/    goos: [$(go env GOOS)]/; s/^    goarch: .*/    goarch: [$(go env GOARCH)]/" \
      "$folder/.goreleaser.yml" >"$folder.yml"
  done
  TZ=UTC build "$work/one" --config "$work/one.yml"
  TZ=Asia/Vladivostok build "$work/deeper/two" --config "$work/deeper/two.yml"
  diff "$work"/one/dist/*_SHA256SUMS "$work"/deeper/two/dist/*_SHA256SUMS
  echo "Two builds of one commit are equal to the byte:"
  cat "$work"/one/dist/*_SHA256SUMS
  ;;
*)
  echo "usage: rehearse.sh check | snapshot | reproducible" >&2
  exit 2
  ;;
esac
