# The scripts of the CI examples, with programs in place of the CLI, the provider and curl. CI is the folder examples/ci.

# status WANT COMMAND...: the command ends with this status.
status() {
  want=$1 code=0
  shift
  "$@" || code=$?
  expect "$want" "$code"
}

# program FILE LINE...: writes a program.
program() {
  file=$1
  shift
  mkdir -p "$(dirname "$file")"
  printf '%s\n' '#!/bin/sh' "$@" >"$file"
  chmod +x "$file"
}

# gpurent.sh runs the version in the lock file, with its arguments and exit status.
lock() { printf 'provider "registry.%s/gpurent" {\n  version = "%s"\n}\n' "$1" "$2"; }
for version in 0.1.0 0.2.0; do
  program "data/providers/registry/gpurent/gpurent/$version/linux_amd64/terraform-provider-gpurent_v$version" \
    "printf '[%s]' $version \"\$@\"; exit 7"
done
gpurent() { TF_DATA_DIR=data sh "$CI/github-actions/ci/gpurent.sh" cost 'a b' >out 2>&1; }
status 1 gpurent
grep 'run init first' out
for host in terraform.io opentofu.org; do
  { lock terraform.io/other 0.1.0; lock "$host/gpurent" 0.2.0; lock terraform.io/gpurent-not 0.1.0; } >.terraform.lock.hcl
  status 7 gpurent
  expect '[0.2.0][cost][a b]' "$(cat out)"
done
lock terraform.io/gpurent 0.3.0 >.terraform.lock.hcl
status 1 gpurent

# drift.sh fails for a plan with changes and for unmanaged servers, and if either is unknown.
mkdir ci
cp "$CI/github-actions/ci/drift.sh" ci
while read -r plan unmanaged want; do
  program tf "case \$1 in plan) exit $plan ;; *) echo '{}' ;; esac"
  program ci/gpurent.sh "test \"\$*\" = 'unmanaged state.json other.json' && grep -q '{}' state.json || exit 9" \
    "exit $unmanaged"
  TF=./tf status "$want" sh ci/drift.sh other.json
done <<'END'
0 0 0
2 0 2
0 3 3
2 3 3
1 3 1
2 1 1
END

# comment.sh sends the file.
program bin/curl 'case "$*" in *" -X GET "*/user) echo "{\"id\": 7}" ;; *" -X GET "*) echo "[]" ;; *) cat >sent ;; esac'
printf '<!-- gpurent costs -->\ntext\n' >costs.md
for pipeline in github-actions gitlab; do
  PATH=$PWD/bin:$PATH GITHUB_TOKEN=t GITHUB_API_URL=u GITHUB_REPOSITORY=r GITLAB_TOKEN=t CI_API_V4_URL=u CI_PROJECT_ID=1 \
    sh "$CI/$pipeline/ci/comment.sh" 1 costs.md
  expect "$(cat costs.md)" "$(jq -r .body sent)"
  rm sent
done
