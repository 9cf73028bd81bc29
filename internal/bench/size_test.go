package bench

import (
	"os"
	"path/filepath"
	"testing"

	// The test builds the provider: its result depends on this package.
	_ "github.com/gpurent/terraform-provider-gpurent/internal/cli"
	"github.com/gpurent/terraform-provider-gpurent/internal/tools/clis"
)

// maxSize is the bound for a release, in bytes.
const maxSize = 25_000_000

func TestBinarySize(t *testing.T) {
	t.Setenv("GOOS", "linux")
	t.Setenv("GOARCH", "amd64")
	file := filepath.Join(t.TempDir(), "provider")
	// -trimpath keeps the path of the clone out of the binary and its size.
	releaseFlags := []string{"-trimpath", "-tags=grpcnotrace", "-ldflags=-s -w"}
	if err := clis.Build(t.Context(), filepath.Join("..", ".."), ".", file, releaseFlags...); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%.2f MB", float64(info.Size())/1e6)
	if info.Size() > maxSize {
		t.Errorf("%d bytes, want at most %d", info.Size(), maxSize)
	}
}
