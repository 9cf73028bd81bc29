# The state, in any object store that speaks S3 and honours If-None-Match. The
# address is in AWS_ENDPOINT_URL_S3, the credentials in AWS_ACCESS_KEY_ID and
# AWS_SECRET_ACCESS_KEY.

terraform {
  backend "s3" {
    bucket         = "example-terraform-state"
    key            = "research.tfstate"
    region         = "us-east-1" # what stores that have no regions want to hear
    use_lockfile   = true        # one run at a time
    use_path_style = true

    # What only Amazon has. Leave this out there.
    skip_credentials_validation = true
    skip_metadata_api_check     = true
    skip_region_validation      = true
    skip_requesting_account_id  = true
    skip_s3_checksum            = true
  }
}
