package provider

import (
	"os"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
)

const (
	// envProtoDataDir, which NewPlugin unsets, makes plugin-go write the configurations and states that it receives to
	// files in this folder, which all users of the machine can read. They contain the API key, secrets of issued keys and
	// the environment of templates.
	envProtoDataDir = "TF_LOG_SDK_PROTO_DATA_DIR"
	envGODEBUG      = "GODEBUG"
	// frameDumps in GODEBUG makes a CLI log the first 256 bytes of each frame that it sends to providers (seen in
	// Terraform 1.11, not in Terraform 1.15 and OpenTofu 1.12). The names in the frame with the provider block are
	// sorted, so that it begins with api_key.
	frameDumps = "http2debug=2"
)

// refuseFrameDumps adds an error if the CLI would log the provider configuration. It is for the schema, which the CLI
// reads before it sends any configuration.
func refuseFrameDumps(diags *diag.Diagnostics) {
	if strings.Contains(os.Getenv(envGODEBUG), frameDumps) {
		addFrameDumps(diags)
	}
}
