package cli

import (
	"net"
	"runtime"
	"strings"
	"testing"

	goplugin "github.com/hashicorp/go-plugin"
)

// Both CLIs attach: each uses the address of its registry.
func TestPrintReattach(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("PowerShell has another syntax")
	}
	var printed strings.Builder
	printReattach(&printed, &goplugin.ReattachConfig{
		Protocol: goplugin.ProtocolGRPC, ProtocolVersion: 6, Pid: 7, Test: true,
		Addr: &net.UnixAddr{Net: "unix", Name: "/tmp/x"},
	})
	const attached = `{"Protocol":"grpc","ProtocolVersion":6,"Pid":7,"Test":true,` +
		`"Addr":{"Network":"unix","String":"/tmp/x"}}`
	want := `export TF_REATTACH_PROVIDERS='{"registry.opentofu.org/gpurent/gpurent":` + attached +
		`,"registry.terraform.io/gpurent/gpurent":` + attached + "}'\n"
	if !strings.Contains(printed.String(), want) {
		t.Errorf("%s\nwant %s", &printed, want)
	}
}
