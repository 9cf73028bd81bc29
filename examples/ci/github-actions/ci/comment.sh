#!/bin/sh
# Creates or updates the comment with the costs on a pull request. Requires curl, jq
# and GITHUB_TOKEN.
#
#   ci/comment.sh PULL FILE
set -eu

# The first line and the author of the comment. Other users could copy the first line.
marker='<!-- gpurent costs -->'
author='github-actions[bot]'

# api METHOD PATH [CURL ARGUMENTS...]
api() {
  method=$1 path=$2
  shift 2
  curl -fsS -X "$method" -H "Authorization: Bearer $GITHUB_TOKEN" -H 'Accept: application/vnd.github+json' \
    -H 'X-GitHub-Api-Version: 2022-11-28' "$@" "$GITHUB_API_URL/repos/$GITHUB_REPOSITORY$path"
}

# send METHOD PATH sends JSON from the standard input.
send() { api "$1" "$2" -H 'Content-Type: application/json' --data-binary @- >/dev/null; }

# find_comment PULL prints the id of the comment on a pull request, or nothing.
find_comment() {
  page=1
  while :; do
    comments=$(api GET "/issues/$1/comments?per_page=100&page=$page")
    found=$(printf '%s' "$comments" | jq --arg marker "$marker" --arg author "$author" \
      'first(.[] | select(.user.login == $author and (.body | startswith($marker)))) | .id')
    if [ -n "$found" ] || [ "$(printf '%s' "$comments" | jq length)" -lt 100 ]; then
      printf '%s\n' "$found"
      return
    fi
    page=$((page + 1))
  done
}

id=$(find_comment "$1")
if [ -n "$id" ]; then
  jq -n --rawfile body "$2" '{$body}' | send PATCH "/issues/comments/$id"
else
  jq -n --rawfile body "$2" '{$body}' | send POST "/issues/$1/comments"
fi
