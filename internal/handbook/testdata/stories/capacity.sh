# If no H100 is available for a new server, the fallback is rented, and the job starts on it.
kept=$(instance node-1 .id)
api "instances/$(instance node-0 .id)" -X DELETE
for offer in $(api 'offers?gpu=h100_sxm&num_gpus=8&limit=200' | jq -r '.data[].id'); do
  control PATCH "offers/$offer" '{"available": false}'
done
"$TF" apply
expect a100_sxm4_80gb "$(instance node-0 .gpu.slug)"
expect "$kept" "$(instance node-1 .id)"
expect 3 "$(grep -c torchrun ~/asked)"
