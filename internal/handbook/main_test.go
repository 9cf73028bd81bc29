package handbook_test

import (
	"os"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/cli"
)

// asBinary makes the test binary behave as the real one.
const asBinary = "GPURENT_TEST_AS_BINARY"

func TestMain(m *testing.M) {
	if os.Getenv(asBinary) != "" {
		os.Exit(cli.Main(os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}
