# A plan with its costs and limits, with a key that can only read, and an apply of this plan with another key.
rm backend.tf
printf 'provider "gpurent" {\n  poll_interval = "1ms"\n}\n' >provider_override.tf
export TF_INPUT=0 GITHUB_OUTPUT=output GITHUB_STEP_SUMMARY=summary
export GITHUB_SERVER_URL=https://github.example GITHUB_REPOSITORY=research/servers GITHUB_RUN_ID=1
# shellcheck disable=SC2046 # two variables
export $(sed -n 's/^  \(MAX_[A-Z]*\): "\(.*\)".*/\1=\2/p' .github/workflows/servers.yml)
team=$(api ssh-keys -d '{"name": "team", "public_key": "'"$(cat ~/.ssh/id_ed25519.pub)"'"}' | jq -r .id)
reader=$(api api-keys -d '{"name": "read", "scopes": ["instances:read", "billing:read", "user:read"]}')
apply_key=$GPURENT_API_KEY
export GPURENT_API_KEY=$(echo "$reader" | jq -r .secret)
"$TF" init
step Plan
step Costs
step Limits
grep -F '| **per hour** | | **0.00 ₽** | **up to 90.00 ₽ + disk** |' summary
expect changes=true "$(cat output)"
cp saved.plan first.plan
GPURENT_API_KEY=$apply_key step Apply
expect_servers 1
if grep -F -e "$apply_key" -e "$GPURENT_API_KEY" terraform.tfstate plan.json summary; then exit 1; fi

# Now there is nothing to approve, and the first plan is no longer current.
rm output
sh ci/drift.sh
step Plan
test ! -e output
cp first.plan saved.plan
fails 'Saved plan is stale' step Apply

# Two more servers exceed what a plan may add.
sed 's/^  size .*/  size = 3/' main.tf >changed
mv changed main.tf
step Plan
step Costs
code=0
step Limits || code=$?
expect 3 "$code"

# A billed server that no state tracks fails the nightly check, unless the state of another configuration has it.
cp terraform.tfstate before
"$TF" show -json >other.json
"$TF" state rm gpurent_fleet.research
code=0
sh ci/drift.sh || code=$?
expect 3 "$code"
code=0
sh ci/drift.sh other.json || code=$?
expect 2 "$code"
mv before terraform.tfstate

export GPURENT_API_KEY=$apply_key
"$TF" destroy
api "ssh-keys/$team" -X DELETE
api "api-keys/$(echo "$reader" | jq -r .id)" -X DELETE
