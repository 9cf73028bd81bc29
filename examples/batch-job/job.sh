# The job. It runs on the server, with "set -e". Write the result to the folder $RESULT.
nvidia-smi --query-gpu=name,memory.total --format=csv >/tmp/gpus.csv
tar -czf /tmp/result.tar.gz -C /tmp gpus.csv
mv /tmp/result.tar.gz "$RESULT"
