package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/gpurent/terraform-provider-gpurent/internal/provider"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/rubles"
)

func gpusCommand() command {
	return command{
		name:  "gpus",
		short: "List the GPU models of the service with their prices",
		long: "Lists the GPU models of the service: the slug for the gpu filter of a query, the memory of each GPU, how " +
			"many GPUs are available now, and the lowest prices of one GPU per hour. It needs no API key and sends none.\n\n" +
			"Exit status: 0; 1 failed; 2 usage.\n\n" +
			"The address is " + provider.EnvBaseURL + ", else that of the last login.",
		example: program + " gpus",
		page:    "command-line.md#gpus",
		prepare: func(flags *flag.FlagSet) runFunc {
			format := flags.String("format", "table", "`FORMAT` of the output: table or json")
			return func(ctx context.Context, _ []string, stdout, stderr io.Writer) error {
				if err := checkFormat(*format, "table", "json"); err != nil {
					return err
				}
				found, err := findTarget("")
				if err != nil {
					return err
				}
				return found.listGPUs(ctx, *format, newScreen(stdout, stderr))
			}
		},
	}
}

// gpusDocument is the output of gpus as JSON. Later versions can add properties. The cheapest models come first.
type gpusDocument struct {
	FormatVersion string            `json:"format_version"`
	BaseURL       string            `json:"base_url"` // of the API
	GPUs          []rental.GPUModel `json:"gpus"`
}

func (s target) listGPUs(ctx context.Context, format string, screen *screen) error {
	client, err := s.connect("")
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	listing, err := rental.NewCache(client).GPUs.List(ctx)
	if err != nil {
		return fmt.Errorf("cannot list the GPU models: %w", err)
	}
	if n := len(listing.Skipped); n > 0 {
		screen.warn("The list lacks entries with invalid data: %d.", n)
	}
	models := slices.SortedFunc(slices.Values(listing.Items), func(a, b rental.GPUModel) int {
		return cmp.Or(cmp.Compare(priceOrMax(a.FromKopH), priceOrMax(b.FromKopH)), cmp.Compare(a.Slug, b.Slug))
	})
	if format == "table" {
		_, err = io.WriteString(screen.stdout, gpuTable(models, client.BaseURL()))
		return err
	}
	document := gpusDocument{"1.0", client.BaseURL(), append([]rental.GPUModel{}, models...)}
	text, err := json.MarshalIndent(document, "", "  ")
	if err == nil {
		_, err = fmt.Fprintln(screen.stdout, string(text))
	}
	return err
}

// priceOrMax sorts models without an offer last.
func priceOrMax(kopH *int64) int64 {
	if kopH == nil {
		return math.MaxInt64
	}
	return *kopH
}

// gpuTable returns one line per model, and the address of the service.
func gpuTable(models []rental.GPUModel, baseURL string) string {
	if len(models) == 0 {
		return fmt.Sprintf("The service at %s has no GPU models.\n", baseURL)
	}
	price := func(kopH *int64) string {
		if kopH == nil {
			return "-"
		}
		return rubles.Format(big.NewInt(*kopH), " ")
	}
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "SLUG\tNAME\tMEMORY\tAVAILABLE\tON DEMAND FROM\tINTERRUPTIBLE FROM")
	for _, m := range models {
		fmt.Fprintf(table, "%s\t%s\t%d GB\t%d\t%s\t%s\n", rental.Printable(m.Slug, maxTextLength),
			rental.Printable(m.Name, maxTextLength), m.VRAMGB, m.AvailableGPUs, price(m.FromKopH),
			price(m.FromInterruptibleKopH))
	}
	_ = table.Flush() // a strings.Builder has no errors
	fmt.Fprintf(&text, "\nPrices of one GPU per hour at %s; \"-\": no offer.\n"+
		"In a configuration: offer_query = { gpu = [\"SLUG\"] }\n", baseURL)
	return text.String()
}
