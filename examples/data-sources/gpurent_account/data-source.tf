provider "gpurent" {}

data "gpurent_account" "me" {}

# Shows a warning in every plan and apply until the address is confirmed.
check "may_rent" {
  assert {
    condition     = data.gpurent_account.me.email_verified
    error_message = "Confirm the account's e-mail address in the service's console: until then, nothing can be rented."
  }
}

output "applied_as" {
  value = data.gpurent_account.me.email
}
