# What a plan costs, as Markdown for a comment:
#
#   terraform show -json saved.plan >plan.json
#   jq -r -f ci/costs.jq plan.json
#
# A server that is still to be rented counts with its cap, max_price_kop_h,
# because its price is known only when it is rented. All amounts are in kopecks
# until they are printed.

def grouped: tostring | [while(length > 0; .[:-3]) | .[-3:]] | reverse | join(" ");
def rub:
  (if . < 0 then "-" else "" end)
  + (fabs | round | "\(. / 100 | floor | grouped),\("0\(. % 100)" | .[-2:]) ₽");

# A name as a code span. Names come from the configuration of a pull request, and
# nothing in a code span is live. What could end the span or the cell of a table,
# and what is invisible, is percent-encoded.
def code: "`" + gsub("(?<c>[^\\p{L}\\p{N} ._:/,+=\"\\[\\]-])"; .c | @uri) + "`";

def running: .price.running_kop_h // 0;
def stopped: .price.stopped_kop_h // 0;
def bills: if .status == "stopped" or .status == "outbid" then stopped else running end;
# The most that a start or a bid may cost. Null says that nothing caps it.
def dearest: if .type == "interruptible" then .max_price_kop_h else running end;

# What happens to a server: what is done, what it costs now and later, and whether
# that is only a cap.
def outcome:
  .change as {$actions, $before, $after}
  | ($before // {} | bills) as $now
  | if $actions == ["no-op"] then {now: $now, later: $now}
    elif $actions == ["delete"] then {does: "destroy", now: $now, later: 0}
    elif $actions == ["forget"] then {does: "forget, **and pay on**", now: $now, later: $now}
    elif $actions == ["create"] then {does: "rent", now: 0, later: $after.max_price_kop_h, cap: true}
    elif $actions | contains(["delete", "create"]) then
      {does: "destroy, rent anew", now: $now, later: $after.max_price_kop_h, cap: true}
    elif $after.desired_state == "stopped" then
      {does: (if $before.status == "stopped" then "settings" else "stop" end), now: $now, later: ($before | stopped)}
    elif $before.status == "running" then {does: "settings", now: $now, later: $now}
    elif $before.status == "outbid" and $after.on_outbid == "keep" then {does: "settings", now: $now, later: $now}
    else {does: "start", now: $now, later: ($before + {max_price_kop_h: $after.max_price_kop_h} | dearest), cap: ($before.type == "interruptible")}
    end;

# The arguments that decide what is rented and who gets access, by resource type.
# The price cap is not one of them: it is compared as a number.
def decisive: {
  gpurent_instance: ["type", "offer_id", "offer_query", "template", "image", "disk_gb", "ssh_key_ids"],
  gpurent_template: ["name", "image", "launch_mode", "ports", "env", "onstart", "min_disk_gb", "recommended_disk_gb"],
  gpurent_api_key: ["name", "scopes", "expires_in_days"],
  gpurent_ssh_key: ["name", "public_key"]
};
def marked: [.. | booleans] | any;
# Everyone who can read the comment can read the list in it: no sensitive values.
def arguments:
  .change as $c
  | [decisive[.type][] as $name | {key: $name, value: (
      if $c.after_unknown[$name] | marked then "(known after apply)"
      elif $c.after_sensitive[$name] | marked then "(sensitive)"
      else $c.after[$name] end)}]
  | from_entries;

# What a review must have shown of a change before guard.sh lets it pass. Starts
# and stops are not in it, unless nothing caps what a start may cost.
def reviewable:
  .change as {$actions, $before, $after}
  | {address} as $entry
  | $after.max_price_kop_h as $cap
  | if decisive[.type] == null or $actions == ["no-op"] then empty
    elif $actions | index("create") then
      $entry + {does: (if $actions == ["create"] then "create" else "replace" end), arguments: arguments}
      + if .type == "gpurent_instance" then {max_price_kop_h: $cap} else {} end
    elif .type != "gpurent_instance" then empty
    elif $actions != ["update"] then $entry + {does: $actions[0]}
    else
      ($before.max_price_kop_h as $was | select($cap != $was and ($cap == null or $cap > $was))
        | $entry + {does: "raise the price cap of", max_price_kop_h: $cap}),
      (select(outcome | .does == "start" and .later == null) | $entry + {does: "start", max_price_kop_h: null})
    end;

def amount($upto): if . == null then "no cap" else (if $upto then "up to " else "" end) + rub end;
def both($upto): "\(amount($upto)) an hour (\(. * 730 | amount($upto)) a month)";

# What else a review needs to see: a higher price cap, and what gives access.
def text: if type == "array" then join(", ") else tostring end;
def noteworthy:
  (.address | code) as $name
  | .change.before.max_price_kop_h as $was
  | (reviewable | select(.does == "raise the price cap of")
      | "- The price cap of \($name): \($was | amount(false)) an hour before, \(
          .max_price_kop_h | amount(false)) afterwards."),
    (select(.change.actions | index("create"))
      | if .type == "gpurent_api_key" then
          arguments
          | "- New API key \($name): \(.scopes | text | code), \(
              .expires_in_days | if . == null then "never expires" else "expires in \(text | code) days" end)."
        elif .type == "gpurent_ssh_key" then
          "- New SSH key \($name): \(.change.after.fingerprint // "known after apply" | code)."
        else empty end);

[.resource_changes[]? | select(.mode == "managed")] as $all
| [$all[] | select(.type == "gpurent_instance") | {address} + outcome] as $servers
| [$servers[] | select(.does)] as $changed
| ($servers - $changed) as $same
| [$all[] | select(.type != "gpurent_instance" and .change.actions != ["no-op"])] as $others
| any($servers[]; .cap) as $upto
| any($servers[]; .later == null) as $open
| ([$servers[].now] | add // 0) as $now
| ([$servers[].later // 0] | add // 0) as $later
| ([$servers[] | (.later // 0) - .now | select(. > 0)] | add // 0) as $more
| ([$servers[] | .now - (.later // 0) | select(. > 0)] | add // 0) as $less
# Servers of a fleet differ only in their address. A comment has limited length.
| [$all[] | reviewable] | group_by(del(.address)) | map((.[0] | del(.address)) + {addresses: map(.address)}) as $list
| "<!-- gpurent costs -->",
  (if $changed == [] then "### No server changes" else "### What this plan does to the servers" end),
  "",
  "| server | | costs now | costs afterwards |",
  "|---|---|---:|---:|",
  ($changed[] | "| \(.address | code) | \(.does) | \(.now | rub) | \(.cap as $c | .later | amount($c)) |"),
  (if $same != [] then "| \($same | length) unchanged | | \([$same[].now] | add | rub) | \([$same[].later] | add | rub) |" else empty end),
  "| **an hour** | | **\($now | rub)** | **\($later | amount($upto))** |",
  "| **a month of 730 hours** | | **\($now * 730 | rub)** | **\($later * 730 | amount($upto))** |",
  "",
  (if $changed != [] then "It adds \($more | both($upto)) and removes \($less | both(false))." else empty end),
  (if $upto then "What is rented counts with its cap; disk beyond an offer's base comes on top." else empty end),
  (if $open then
    "**Servers without a cap are left out of the sums: their price is not limited. The pipeline does not apply this.**"
  else empty end),
  (if $others != [] then "It also changes what is no server: \([$others[] | .address | code] | join(", "))." else empty end),
  ($all[] | noteworthy),
  "",
  "<!-- reviewed: \($list | tojson | @base64) -->"
