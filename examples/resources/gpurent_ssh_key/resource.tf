resource "gpurent_ssh_key" "laptop" {
  name       = "laptop"
  public_key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKJLu/BJj6IuH3Ssli37zXUHMHdBfD153tGyfACAryQ8 me@laptop"
}
