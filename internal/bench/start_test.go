package main_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/emptypb"

	// So that Go's cache of test results knows of what this measures.
	_ "github.com/gpurent/terraform-provider-gpurent/internal/cli"
)

const (
	// maxSize is how large the released program may be, bytes. Of that the provider
	// that does nothing has 17.7 million.
	maxSize = 20 << 20
	// maxMemory and maxTime bound a start against that of the provider that does
	// nothing. Both grow with the schema. Time is told, and held only to what no busy
	// machine explains.
	maxMemory = 1.20
	maxTime   = 2.0
	// starts is how often each is started, in turns.
	starts = 11
)

// TestCost measures the program as it is released.
func TestCost(t *testing.T) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the numbers are those of Linux on amd64")
	}
	ours, nothing := build(t, "."), build(t, "./internal/bench/nothing")
	if size := sizeOf(t, ours); size > maxSize {
		t.Errorf("the program has %d bytes, want at most %d; one that does nothing has %d", size, maxSize, sizeOf(t, nothing))
	}
	var our, their []start
	for range starts {
		our, their = append(our, measure(t, ours)), append(their, measure(t, nothing))
	}
	kilobytes := func(s start) float64 { return float64(s.kilobytes) }
	milliseconds := func(s start) float64 { return s.time.Seconds() * 1000 }
	t.Logf("%d bytes; %.1f ms and %.0f KB until the schema is there; doing nothing: %d bytes, %.1f ms, %.0f KB",
		sizeOf(t, ours), median(our, milliseconds), median(our, kilobytes), sizeOf(t, nothing), median(their, milliseconds), median(their, kilobytes))
	if ratio := median(our, kilobytes) / median(their, kilobytes); ratio > maxMemory {
		t.Errorf("a start takes %.2f times the memory of one that does nothing, want at most %.2f", ratio, maxMemory)
	}
	if ratio := median(our, milliseconds) / median(their, milliseconds); ratio > maxTime {
		t.Errorf("a start takes %.2f times as long as one that does nothing, want at most %.2f", ratio, maxTime)
	}
}

// build builds a program as "make build" does, without what debuggers need.
func build(t *testing.T, folder string) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "program")
	command := exec.CommandContext(t.Context(), "go", "build", "-tags", "grpcnotrace", "-ldflags=-s -w", "-o", binary, folder)
	command.Dir = filepath.Join("..", "..")
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return binary
}

func sizeOf(t *testing.T, file string) int64 {
	t.Helper()
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// start is what it takes from the start of a plugin until it has told its schema.
type start struct {
	time      time.Duration
	kilobytes int
}

var resident = regexp.MustCompile(`(?m)^VmRSS:\s+(\d+) kB$`)

// measure starts a plugin as a CLI does, and asks for its schema. The answer is left
// as it comes: of its parts none has a name for an empty message.
func measure(t *testing.T, binary string) start {
	t.Helper()
	ctx, kill := context.WithCancel(t.Context())
	plugin := exec.CommandContext(ctx, binary)
	plugin.Env = append(os.Environ(), "TF_PLUGIN_MAGIC_COOKIE=d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2", "PLUGIN_PROTOCOL_VERSIONS=6")
	stdout, err := plugin.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := plugin.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		kill()
		if err := plugin.Wait(); plugin.ProcessState == nil {
			t.Error(err)
		}
	}()
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(line, "|") // version, protocol, network, address, …
	if len(parts) < 5 {
		t.Fatalf("the plugin says %q", line)
	}
	client, err := grpc.NewClient(parts[2]+":"+parts[3], grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if err := client.Invoke(t.Context(), "/tfplugin6.Provider/GetProviderSchema", new(emptypb.Empty), new(emptypb.Empty)); err != nil {
		t.Fatal(err)
	}
	took := time.Since(began)
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", plugin.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	found := resident.FindSubmatch(status)
	if found == nil {
		t.Fatalf("no memory in %s", status)
	}
	kilobytes, err := strconv.Atoi(string(found[1]))
	if err != nil {
		t.Fatal(err)
	}
	return start{took, kilobytes}
}

func median(of []start, value func(start) float64) float64 {
	var values []float64
	for _, s := range of {
		values = append(values, value(s))
	}
	slices.Sort(values)
	return values[len(values)/2]
}
