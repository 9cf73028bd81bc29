# The pipeline applies only with a shared state.
export TF_INPUT=0 TF_VAR_public_key_file=team.pub
if step 'Shared state'; then exit 1; fi
cp ~/.ssh/id_ed25519.pub team.pub
echo 'terraform {}' >backend.tf
step 'Shared state'
step Init
step Apply
