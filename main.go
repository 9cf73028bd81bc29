// Command terraform-provider-gpurent is the Terraform and OpenTofu provider for
// rented GPU servers. It also contains a simulator of the rental service.
package main

import (
	"os"

	"github.com/gpurent/terraform-provider-gpurent/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], os.Stdout, os.Stderr)) }
