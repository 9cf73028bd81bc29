# Above the cap, the apply leaves the outbid server as it is, with the reason. When the price falls, it starts again.
offer=$(member spot-0 .offer_id) before=$(servers)
control PATCH "offers/$offer" '{"interruptible_kop_h": 9500}'
"$TF" apply -no-color >apply.log 2>&1
prints apply.log 'Fleet spot is not complete' 'costs 95.00 ₽ per hour' 'Not running: spot-0 (outbid).'
expect outbid "$(member spot-0 .status)"
control PATCH "offers/$offer" '{"interruptible_kop_h": 2600}'
"$TF" apply
expect running "$(member spot-0 .status)"
expect "$before" "$(servers)"
