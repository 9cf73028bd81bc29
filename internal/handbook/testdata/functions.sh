# Functions for the hidden commands of the pages, and for stories.

# api PATH [ARGUMENT...]: a request to the API, with arguments for curl.
api() {
  path=$1
  shift
  curl -fsS -H "Authorization: Bearer $GPURENT_API_KEY" -H 'Content-Type: application/json' "$@" "$GPURENT_BASE_URL/$path"
}

# control METHOD PATH [BODY]: a request to the simulator's control API.
control() {
  curl -fsS -o /dev/null -X "$1" -H 'Content-Type: application/json' ${3:+-d "$3"} "${GPURENT_BASE_URL%/api/v1}/control/$2"
}

# replace FILE BEFORE AFTER: replaces the lines of the file BEFORE in a file by those of the file AFTER.
replace() {
  text=$(cat "$1" && echo x) before=$(cat "$2" && echo x) after=$(cat "$3" && echo x)
  case $text in
  *"${before%x}"*) text=${text/"${before%x}"/"${after%x}"} ;;
  *) echo "$1 does not contain: $before" >&2 && return 1 ;;
  esac
  printf %s "${text%x}" >"$1"
}

# no_changes [ARGUMENT...]: a plan shows no changes. The arguments are for the CLI.
no_changes() { "$TF" "$@" plan -detailed-exitcode; }

# shows TEXT ARGUMENT...: the CLI prints a text.
shows() {
  text=$1
  shift
  "$TF" "$@" -no-color | grep -F -e "$text"
}

# step NAME: the commands of a step of the example's workflow.
step() { bash -e -o pipefail "$STEPS/$1" </dev/null; }

# instance NAME PATH: an attribute of a gpurent_instance in the state, as a path of jq.
instance() {
  jq -r --arg name "$1" '.resources[] | select(.type == "gpurent_instance").instances[].attributes |
    select(.name == $name) | '"$2" terraform.tfstate
}

# member FLEET-SLOT PATH: an attribute of a member of a fleet in the state.
member() {
  jq -r --arg name "${1%-*}" --arg slot "${1##*-}" '.resources[] | select(.type == "gpurent_fleet").instances[].attributes |
    select(.name == $name).instances[$slot] | '"$2" terraform.tfstate
}

# prints FILE TEXT...: the output of a CLI in a file has these texts, with other spaces and the bars of messages.
prints() {
  output=$(sed 's/│//g; s/╷//g; s/╵//g; s/ / /g' "$1" | tr -s ' \n' ' ')
  shift
  for text in "$@"; do
    case $output in *"$text"*) ;; *) echo "no '$text' in: $output" >&2 && return 1 ;; esac
  done
}

# servers: the ids of the servers that are not destroyed.
servers() { api 'instances?limit=200' | grep -o '"id":"ins_[a-z0-9]*' | cut -d '"' -f 4 | sort; }

# expect WANT GOT: fails unless both are equal.
expect() {
  if test "$1" != "$2"; then
    echo "want $1, got $2" >&2
    return 1
  fi
}

# expect_servers NUMBER: that many servers are not destroyed.
expect_servers() { expect "$1" "$(servers | wc -l)"; }

# fails TEXT COMMAND...: the command ends with status 1 and prints a text.
fails() {
  text=$1 code=0
  shift
  "$@" >fails.log 2>&1 || code=$?
  cat fails.log
  expect 1 "$code" && grep -q -F -e "$text" fails.log
}

# killed_during_create NUMBER: loses all responses to create requests, and kills the apply when that many servers exist.
killed_during_create() {
  control POST faults '{"method": "POST", "path": "/instances", "drop": "after"}'
  "$TF" apply >/dev/null 2>&1 &
  until test "$(servers | wc -l)" -eq "$1"; do sleep 0.1; done
  kill -9 $!
  wait $! || true
  control DELETE faults
}

# interrupted_replace ADDRESS: interrupts an apply that replaces a resource, while the server boots. The log is in
# interrupted.log. Without job control, a shell starts background commands with SIGINT ignored.
interrupted_replace() {
  set -m
  "$TF" apply -no-color -replace="$1" >interrupted.log 2>&1 &
  until api instances | grep -qE '"status":"(creating|starting)"'; do sleep 0.1; done
  kill -INT $!
  wait $! || true
  set +m
}

# import_orphan NAME: imports the server of the warning in the plan into gpurent_instance.NAME.
import_orphan() {
  id=$("$TF" plan -no-color | grep -o 'Instance ins_[a-z0-9]*' | cut -d ' ' -f 2)
  printf 'import {\n  to = gpurent_instance.%s\n  id = "%s"\n}\n' "$1" "$id" >import.tf
  shows '1 imported, 0 added' apply
  rm import.tf
}

# insert_ids FILE: replaces the ids in a configuration by those of the server "trainer" and of the SSH key.
insert_ids() {
  sed -i.bak "s/ins_0123456789ab/$(api instances | jq -r '.data[] | select(.name == "trainer").id')/
    s/ssh_0123456789ab/$(api ssh-keys | jq -r '.data[0].id')/" "$1" && rm "$1.bak"
}

# expect_api_keys NUMBER: the account has that many API keys.
expect_api_keys() { expect "$1" "$(api api-keys | grep -o '"prefix"' | wc -l)"; }

# approve FILE PROCESS: approves the code that a login prints to the file, as a user does in the browser, and waits for its
# process.
approve() {
  printed='Open \(.*\)/device in a browser and approve the code \([A-Z-]*\) .*'
  until answer=$(sed -n "s|^$printed|\1/control/device-codes/\2|p" "$1") && test -n "$answer"; do
    kill -0 "$2"
    sleep 0.1
  done
  curl -fsS -o /dev/null -X POST -H 'Content-Type: application/json' -d '{"decision": "approve"}' "$answer"
  wait "$2"
}
