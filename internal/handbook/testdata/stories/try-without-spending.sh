# The steps of the workflow. The state file carries the service from one step to the next.
export SIMULATOR='./with-simulator.sh --time-scale 60 --market still' TF_INPUT=0 TF_VAR_poll_interval=200ms
for name in Init Plan Apply 'Second plan without changes' Destroy 'Test the module' 'Fault injection'; do
  step "$name"
done
# trouble.sh fails for a module that keeps an outbid server as it is.
sed 's/^  desired_state /  on_outbid = "keep"\n&/' module/main.tf >changed
mv changed module/main.tf
fails 'the plan ended with exit code 0, expected 2' step 'Fault injection'
