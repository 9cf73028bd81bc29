data "gpurent_account" "me" {}

# Warns in every plan and apply.
check "may_rent" {
  assert {
    condition     = data.gpurent_account.me.email_verified
    error_message = "Confirm the account's e-mail address in the service's console: until then, nothing can be rented."
  }
}

output "applied_as" {
  value = data.gpurent_account.me.email
}
