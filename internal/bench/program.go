package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/gpurent/terraform-provider-gpurent/internal/tools/clis"
)

const (
	// workProgram is how -only names the measurement of the program itself.
	workProgram = "program"
	// nothingPackage is a provider that does nothing.
	nothingPackage = "./internal/bench/nothing"
	// schemaRuns is how often each program is asked for its schema.
	schemaRuns = 21
	// warmUps are not counted: the first start reads the file from the disk.
	warmUps = 1
	// handshake is what a CLI says to a provider when it starts it, so that people
	// who start one by hand are told what it is.
	handshakeKey, handshakeValue = "TF_PLUGIN_MAGIC_COOKIE", "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2"
	schemaMethod                 = "/tfplugin6.Provider/GetProviderSchema"
	protocol                     = 6
)

// stripped are the flags of a release build, but for -trimpath, which would have
// everything compiled once more.
var stripped = []string{"-tags=grpcnotrace", "-ldflags=-s -w"}

// Program is the provider as a program, as it is released.
type Program struct {
	SizeMB float64 `json:"size_mb"` // 10^6 bytes
	// Schema is the time from the start to the schema, and the memory then.
	Schema Answer `json:"schema"`
	// Nothing is the same of a provider that does nothing; null without one.
	Nothing *Answer `json:"nothing"`
}

// Answer is the median of asking a program for its schema.
type Answer struct {
	MS    float64 `json:"ms"`
	RSSMB float64 `json:"rss_mb"` // 10^6 bytes
}

// measureProgram builds the release and the provider that does nothing, and asks
// both for their schema in turn.
func measureProgram(ctx context.Context, root, folder string, out io.Writer) (*Program, error) {
	place := filepath.Join(folder, "release")
	if err := os.Mkdir(place, folderMode); err != nil {
		return nil, err
	}
	release, err := clis.Install(ctx, root, place, stripped...)
	if err != nil {
		return nil, err
	}
	size, err := os.Stat(release.Binary)
	if err != nil {
		return nil, err
	}
	binaries := []string{release.Binary}
	nothing, err := program(ctx, root, nothingPackage, place)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		fmt.Fprintf(out, "%s: %s does not exist, so there is nothing to compare the schema's cost with\n", workProgram, nothingPackage)
	case err != nil:
		return nil, err
	default:
		binaries = append(binaries, nothing)
	}
	answers, err := askInTurn(ctx, binaries)
	if err != nil {
		return nil, err
	}
	measured := &Program{SizeMB: rounded(float64(size.Size())/1e6, 2), Schema: answers[0]}
	if len(answers) > 1 {
		measured.Nothing = &answers[1]
	}
	return measured, nil
}

// program builds another main package of the module as the release is built. It
// says fs.ErrNotExist where there is no such package.
func program(ctx context.Context, root, name, folder string) (string, error) {
	if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(name))); err != nil {
		return "", err
	}
	file := filepath.Join(folder, filepath.Base(name))
	return file, clis.Build(ctx, root, name, file, stripped...)
}

// askInTurn asks each program many times, one after the other, so that what else
// the machine does falls on all alike.
func askInTurn(ctx context.Context, binaries []string) ([]Answer, error) {
	times, memory := make([][]float64, len(binaries)), make([][]float64, len(binaries))
	for round := range schemaRuns + warmUps {
		for i, binary := range binaries {
			answer, err := askSchema(ctx, binary)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", filepath.Base(binary), err)
			}
			if round >= warmUps {
				times[i], memory[i] = append(times[i], answer.MS), append(memory[i], answer.RSSMB)
			}
		}
	}
	answers := make([]Answer, len(binaries))
	for i := range binaries {
		answers[i] = Answer{MS: rounded(median(times[i]), 1), RSSMB: rounded(median(memory[i]), 1)}
	}
	return answers, nil
}

// askSchema starts a provider as a CLI does and asks for its schema. What the
// answer says does not matter here, so it is not taken apart.
func askSchema(ctx context.Context, binary string) (Answer, error) {
	begin := time.Now()
	cmd := exec.CommandContext(ctx, binary)
	cmd.Env = clis.Environ()
	client := plugin.NewClient(&plugin.ClientConfig{
		HandshakeConfig:  plugin.HandshakeConfig{ProtocolVersion: protocol, MagicCookieKey: handshakeKey, MagicCookieValue: handshakeValue},
		VersionedPlugins: map[int]plugin.PluginSet{protocol: {"provider": connection{}}},
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		Cmd:              cmd,
		Logger:           hclog.NewNullLogger(),
	})
	defer client.Kill()
	started, err := client.Client()
	if err != nil {
		return Answer{}, err
	}
	dispensed, err := started.Dispense("provider")
	if err != nil {
		return Answer{}, err
	}
	conn, ok := dispensed.(*grpc.ClientConn)
	if !ok {
		return Answer{}, fmt.Errorf("a connection was expected, not %T", dispensed)
	}
	var schema emptypb.Empty
	if err := conn.Invoke(ctx, schemaMethod, &emptypb.Empty{}, &schema); err != nil {
		return Answer{}, err
	}
	answer := Answer{MS: float64(time.Since(begin).Microseconds()) / 1000}
	if len(schema.ProtoReflect().GetUnknown()) == 0 {
		return answer, errors.New("it told no schema")
	}
	answer.RSSMB, err = residentMB(client.ReattachConfig().Pid)
	return answer, err
}

var resident = regexp.MustCompile(`(?m)^VmRSS:\s+(\d+) kB$`)

// residentMB is the memory that a process has now, 10^6 bytes.
func residentMB(pid int) (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	found := resident.FindSubmatch(status)
	if found == nil {
		return 0, errors.New("the system does not tell the memory of a process")
	}
	kilobytes, err := strconv.Atoi(string(found[1]))
	return float64(kilobytes) * 1024 / 1e6, err
}

// connection is a plugin of which only the connection is used.
type connection struct{ plugin.NetRPCUnsupportedPlugin }

// GRPCServer implements plugin.GRPCPlugin; nobody serves one.
func (connection) GRPCServer(*plugin.GRPCBroker, *grpc.Server) error {
	return errors.New("only the client's side is used")
}

// GRPCClient implements plugin.GRPCPlugin.
func (connection) GRPCClient(_ context.Context, _ *plugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return conn, nil
}
