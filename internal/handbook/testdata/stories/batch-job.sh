# The server of a job that fails, takes too long or is terminated is destroyed, and a lost state costs nothing more.
cp job.sh job.backup
echo '# JOB FAILED' >>job.sh # the simulator logs each line
fails 'The job failed.' step Run
cp job.backup job.sh
expect_servers 0
test ! -e result.tar.gz

cp main.tf main.backup
sed 's/echo JOB SUCCEEDED/echo DONE/' main.backup >main.tf
fails 'is not ready yet' env TF_VAR_max_duration=1s ./run.sh
expect_servers 0
./run.sh & # until the server is rented
until test "$(servers | wc -l)" -eq 1; do sleep 0.1; done
kill -TERM $!
code=0
wait $! || code=$?
expect 143 "$code"
expect_servers 0
cp main.backup main.tf

TF_VAR_token=lost "$TF" apply
mv terraform.tfstate lost
fails 'The instance of idempotency_key differs from the configuration' ./run.sh
control POST clock '{"advance_seconds": 7200}'
fails 'has the idempotency key of this resource' ./run.sh
TF_VAR_token=none "$TF" import gpurent_instance.job "$(servers)"
step Destroy
expect_servers 0
mv lost terraform.tfstate
