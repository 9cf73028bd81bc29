# The fingerprint that `ssh-keygen -l` prints: SHA256:8v26jgbNH2fLJxQMdNeAZ5MTwnOj+VNV2xs8TocK1Mo
output "fingerprint" {
  value = provider::gpurent::ssh_fingerprint("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKJLu/BJj6IuH3Ssli37zXUHMHdBfD153tGyfACAryQ8 laptop")
}
