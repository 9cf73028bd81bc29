package cli

import (
	"context"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gpurent/terraform-provider-gpurent/internal/provider"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/unmanaged"
)

// exitUnmanaged is the exit code if there are unmanaged servers.
const exitUnmanaged = 3

func unmanagedCommand() command {
	return command{
		name:  "unmanaged",
		short: "List billed servers that no Terraform state contains",
		args:  "[STATE.json|- ...]",
		long: "Lists the billed servers of the account that none of the given states contains: the most expensive first, " +
			"then the oldest. It changes nothing. Give all states of the account, each as written by \"terraform show " +
			"-json\" or \"tofu show -json\"; - is standard input, which can have several. Without a state, all billed " +
			"servers are listed. A young server can belong to an apply that is still running.\n\n" +
			"Exit status: 0 if there are no such servers; 1 failed; 2 usage; 3 if there are some.\n\n" +
			"The address is " + provider.EnvBaseURL + ", else that of the last login; the key is " +
			provider.EnvAPIKey + ", else that of the login. The key needs the scope instances:read.",
		example: unmanaged.ShowCommand + " | " + program + " unmanaged -",
		page:    "command-line.md#unmanaged",
		prepare: func(flags *flag.FlagSet) runFunc {
			format := flags.String("format", "table", "`FORMAT` of the output: table; json; or import, import blocks")
			return func(ctx context.Context, files []string, stdout, stderr io.Writer) error {
				if err := checkFormat(*format, "table", "json", "import"); err != nil {
					return err
				}
				if first := slices.Index(files, standardInput); first >= 0 && slices.Contains(files[first+1:], standardInput) {
					return usageError("standard input can be given only once")
				}
				client, err := connectAccount()
				if err != nil {
					return err
				}
				if !client.Authenticated() {
					return usageError("there is no API key for %s: set %s, or log in with \"%s login\"", client.BaseURL(),
						provider.EnvAPIKey, program)
				}
				defer client.CloseIdleConnections()
				return listUnmanaged(ctx, client, files, *format, newScreen(stdout, stderr))
			}
		},
	}
}

func listUnmanaged(ctx context.Context, client *rental.Client, files []string, format string, screen *screen) error {
	states, err := readStates(files)
	if err != nil {
		return err
	}
	report, err := unmanaged.Find(ctx, client, states)
	if err != nil {
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
	var text string
	switch format {
	case "json":
		text, err = report.JSON()
	case "import":
		text = report.Import()
	default:
		text = report.Table()
	}
	if err == nil {
		_, err = io.WriteString(screen.stdout, text)
	}
	if err == nil && !report.Empty() {
		err = &exitError{status: exitUnmanaged}
	}
	return err
}

// readStates reads the states in files.
func readStates(files []string) (states unmanaged.States, err error) {
	for _, name := range files {
		if err := withInput(name, unmanaged.ShowCommand, states.Read); err != nil {
			return states, fmt.Errorf("cannot read the state in %s: %w", name, err)
		}
	}
	return states, nil
}
