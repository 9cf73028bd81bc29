package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"

	goplugin "github.com/hashicorp/go-plugin"

	"github.com/gpurent/terraform-provider-gpurent/internal/provider"
)

// reattach is how Terraform and OpenTofu connect to a plugin that runs.
type reattach struct {
	Protocol        string
	ProtocolVersion int
	Pid             int
	Test            bool
	Addr            struct{ Network, String string }
}

// printReattach prints the variable with which both CLIs use a plugin that runs, instead of starting one.
func printReattach(stdout io.Writer, config *goplugin.ReattachConfig) {
	attached := reattach{
		Protocol: string(config.Protocol), ProtocolVersion: config.ProtocolVersion, Pid: config.Pid, Test: config.Test,
	}
	attached.Addr.Network, attached.Addr.String = config.Addr.Network(), config.Addr.String()
	value, err := json.Marshal(map[string]reattach{
		registryHost + provider.Address: attached, tofuRegistryHost + provider.Address: attached,
	})
	if err != nil {
		panic(err) // strings and numbers have no errors
	}
	assignment := "export TF_REATTACH_PROVIDERS='%s'"
	if runtime.GOOS == "windows" {
		assignment = "$env:TF_REATTACH_PROVIDERS = '%s'"
	}
	fmt.Fprintf(stdout, "The plugin runs. Set this variable where you run Terraform or OpenTofu:\n\n"+
		assignment+"\n\n", value)
}
