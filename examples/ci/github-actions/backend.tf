# Stores the state in any object storage that is compatible with S3 and supports
# If-None-Match. AWS_ENDPOINT_URL_S3 contains the address; AWS_ACCESS_KEY_ID and
# AWS_SECRET_ACCESS_KEY contain the credentials.

terraform {
  backend "s3" {
    bucket         = "example-terraform-state"
    key            = "research.tfstate"
    region         = "us-east-1" # for stores without regions
    use_lockfile   = true        # locks the state during a run
    use_path_style = true

    # For stores other than Amazon S3. Remove these lines for Amazon S3.
    skip_credentials_validation = true
    skip_metadata_api_check     = true
    skip_region_validation      = true
    skip_requesting_account_id  = true
    skip_s3_checksum            = true
  }
}
