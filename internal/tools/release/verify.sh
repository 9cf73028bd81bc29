#!/usr/bin/env bash
# Verifies the files of a release, as GoReleaser leaves them in a folder: what the registries of Terraform and OpenTofu
# require, and how each program was built. The release workflow and the rehearsal run this script.
#
#   verify.sh FOLDER [--with-sboms]
set -euo pipefail

fail() {
  echo "verify.sh: $*" >&2
  exit 1
}

root=$(cd "$(dirname "$0")/../../.." && pwd)
module=github.com/gpurent/terraform-provider-gpurent
name=terraform-provider-gpurent
commit=$(git -C "$root" rev-parse HEAD)
cd "$1"
sboms=${2:-}

lists=("${name}"_*_SHA256SUMS)
[[ ${#lists[@]} == 1 && -f ${lists[0]} ]] || fail "$1 must contain exactly one list of checksums"
sums=${lists[0]}
version=${sums#"${name}_"}
version=${version%_SHA256SUMS}
sha256sum --check --strict --quiet "$sums"
listed=$(cut --delimiter=' ' --fields=3 "$sums")
for file in "${name}_${version}"_*; do
  [[ $file == "$sums"* ]] || grep -qxF "$file" <<<"$listed" || fail "$file is not in the list of checksums"
done

# Without this manifest, registries assume version 5 of the plugin protocol.
manifest=${name}_${version}_manifest.json
grep -qxF "$manifest" <<<"$listed" || fail "$manifest is not in the list of checksums"
cmp "$manifest" "$root/terraform-registry-manifest.json"
grep -q '"protocol_versions": \["6.0"\]' "$manifest" || fail "$manifest does not name protocol 6.0"

program=$(mktemp)
trap 'rm -f "$program"' EXIT
platforms=(darwin_{amd64,arm64} {freebsd,linux}_{386,amd64,arm,arm64} windows_{386,amd64,arm64})
for platform in "${platforms[@]}"; do
  archive=${name}_${version}_$platform.zip
  file=${name}_v$version
  [[ $platform != windows_* ]] || file+=.exe
  [[ -f $archive ]] || fail "there is no archive for $platform"
  [[ $(zipinfo -1 "$archive") == "$file" ]] || fail "$archive does not contain $file and nothing else"
  zipinfo "$archive" "$file" | grep -q '^-rwxr-xr-x ' || fail "$archive: $file has another mode than 755"
  if [[ $sboms == --with-sboms ]]; then
    grep -qxF "$archive.spdx.json" <<<"$listed" || fail "$archive has no SPDX file"
  fi
  unzip -p "$archive" "$file" >"$program"
  [[ $platform != linux_amd64 ]] || (($(wc -c <"$program") <= 25000000)) || fail "$archive: $file has more than 25 MB"
  built=$(go version -m "$program")
  settings=("-trimpath=true" "-tags=grpcnotrace" "-buildmode=exe" "CGO_ENABLED=0" "GOOS=${platform%_*}"
    "GOARCH=${platform#*_}" "vcs.revision=$commit" "vcs.modified=false")
  [[ $platform != *_arm ]] || settings+=("GOARM=6") # the oldest processor that the CLIs support as "arm"
  for setting in "${settings[@]}"; do
    grep -qxF "	build	$setting" <<<"$built" || fail "$archive: not built with $setting"
  done
  grep -q "^	path	$module$" <<<"$built" || fail "$archive: not the program of $module"
  ! grep -q '^	=>' <<<"$built" || fail "$archive: a module is replaced"
  while read -r _ path number sum; do
    grep -q "^$path " "$root/internal/tools/release/modules.txt" || fail "$archive: $path is not in modules.txt"
    grep -qxF "$path $number $sum" "$root/go.sum" || fail "$archive: $path $number has another checksum than in go.sum"
  done < <(grep '^	dep	' <<<"$built")
done
for archive in *.zip; do
  platform=${archive#"${name}_${version}_"}
  [[ " ${platforms[*]} " == *" ${platform%.zip} "* ]] || fail "$archive is for an unknown platform"
done
echo "$1: version $version for ${#platforms[@]} platforms is complete"
