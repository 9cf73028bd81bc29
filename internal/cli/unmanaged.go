package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/gpurent/terraform-provider-gpurent/internal/provider"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/unmanaged"
)

// exitUnmanaged is the exit code if there are unmanaged servers. A usage error has the same one, but prints nothing to
// stdout.
const exitUnmanaged = 2

// standardInput is the argument for stdin.
const standardInput = "-"

func unmanagedCommand() command {
	return command{
		name:  "unmanaged",
		short: "List billed servers that no Terraform state contains",
		args:  "[STATE.json|- ...]",
		long: "Lists the billed servers of the account that none of the given states contains: the most expensive first, " +
			"then the oldest. It changes nothing. Give all states of the account, each as written by \"terraform show " +
			"-json\" or \"tofu show -json\"; - is standard input, which can have several. Without a state, all billed " +
			"servers are listed. A young server can belong to an apply that is still running.\n\n" +
			"Exit codes: 0 if there are no such servers, 2 if there are some, 1 if the account or a state cannot be read. " +
			"A usage error is also 2, without any output on stdout.\n\n" +
			"The address is --base-url, else " + provider.EnvBaseURL + ", else that of the last login; the key is " +
			provider.EnvAPIKey + ", else that of the login. The key needs the scope instances:read.",
		prepare: func(flags *flag.FlagSet) runFunc {
			baseURL := flags.String("base-url", "", "`URL` of the service, ending in /api/v1")
			format := flags.String("format", "table", "`FORMAT` of the output: table; json; or import, import blocks "+
				"and resources whose plan changes nothing")
			return func(ctx context.Context, files []string, stdout, stderr io.Writer) error {
				write, err := reportWriter(*format)
				if err != nil {
					return err
				}
				if first := slices.Index(files, standardInput); first >= 0 && slices.Contains(files[first+1:], standardInput) {
					return &usageError{errors.New("standard input can be given only once")}
				}
				client, err := connectAccount(*baseURL)
				if err != nil {
					return err
				}
				if !client.Authenticated() {
					return &usageError{fmt.Errorf("there is no API key for %s: set %s, or log in with \"%s login\"",
						client.BaseURL(), provider.EnvAPIKey, program)}
				}
				defer client.CloseIdleConnections()
				return listUnmanaged(ctx, client, files, write, stdout, newScreen(stdout, stderr))
			}
		},
	}
}

// reportWriter returns the function that writes a report in a format.
func reportWriter(format string) (func(unmanaged.Report, io.Writer) error, error) {
	switch format {
	case "table":
		return unmanaged.Report.WriteTable, nil
	case "json":
		return unmanaged.Report.WriteJSON, nil
	case "import":
		return unmanaged.Report.WriteImport, nil
	}
	return nil, &usageError{fmt.Errorf("unknown format %q: use table, json or import", format)}
}

func listUnmanaged(
	ctx context.Context, client *rental.Client, files []string, write func(unmanaged.Report, io.Writer) error,
	stdout io.Writer, screen *screen,
) error {
	states, err := readStates(files)
	if err != nil {
		return err
	}
	report, err := unmanaged.Find(ctx, client, states)
	switch {
	case rental.IsForbidden(err):
		return fmt.Errorf("cannot list the servers of the account: %w. The API key needs the scope %s",
			err, rental.ScopeInstancesRead)
	case err != nil:
		return fmt.Errorf("cannot list the servers of the account: %w%s", err, keyAdvice(err))
	}
	if len(states.IDs) > 0 && report.Managed == 0 {
		screen.warn("The account at %s has none of the %d servers in the states. They may be destroyed, or the states may "+
			"belong to another account or address.", client.BaseURL(), len(states.IDs))
	}
	if len(report.Foreign) > 0 {
		screen.warn("The list contains servers that the API does not find. They belong to other accounts: %s.",
			rental.Printable(strings.Join(report.Foreign, ", "), maxTextLength))
	}
	if err := write(report, stdout); err != nil {
		return err
	}
	if !report.Empty() {
		return &statusError{status: exitUnmanaged}
	}
	return nil
}

// readStates reads the states in files.
func readStates(files []string) (states unmanaged.States, err error) {
	for _, name := range files {
		if err := readState(&states, name); err != nil {
			return states, fmt.Errorf("cannot read the state in %s: %w", name, err)
		}
	}
	return states, nil
}

func readState(states *unmanaged.States, name string) error {
	if name == standardInput {
		return states.Read(os.Stdin)
	}
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	return states.Read(file)
}
