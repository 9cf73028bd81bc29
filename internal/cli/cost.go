package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/gpurent/terraform-provider-gpurent/internal/cost"
	"github.com/gpurent/terraform-provider-gpurent/internal/credentials"
	"github.com/gpurent/terraform-provider-gpurent/internal/provider"
)

// Exit codes of cost.
const (
	exitAboveLimit  = 3
	exitNotReviewed = 4
)

func costCommand() command {
	return command{
		name:  "cost",
		short: "Show what a plan costs",
		args:  "[PLAN.json|-]",
		long: "Shows what a plan costs: the price of each server now and after the apply, and the sums. It reads the " +
			"output of terraform show -json PLAN, or of tofu show -json PLAN, from a file or stdin.\n\n" +
			"A new server counts with its price cap. With --prices, it counts with the price that the cheapest matching " +
			"offers have now. Without --prices, the command uses no network.\n\n" +
			"Exit status: 0; 1 failed; 2 usage; 3 the plan exceeds a limit, or may exceed it; 4 the plan contains changes " +
			"that the review did not show.",
		prepare: func(flags *flag.FlagSet) runFunc {
			c := new(costRun)
			flags.StringVar(&c.format, "format", "table", "table, markdown: a comment for a pull request, or json")
			flags.BoolVar(&c.prices, "prices", false, "read the prices of offers and the balance from the service")
			flags.StringVar(&c.maxBurn, "max-burn", "", "`RUB`: highest price of all servers of the plan after the apply, per hour")
			flags.StringVar(&c.maxAdded, "max-added", "", "`RUB`: most that the apply may add to that price, per hour")
			flags.StringVar(&c.reviewed, "reviewed", "",
				"`FILE` with the output for the reviewed plan, as json or markdown: other changes are refused")
			return c.run
		},
	}
}

// costRun is one run of the cost command.
type costRun struct {
	format, maxBurn, maxAdded, reviewed string
	prices                              bool
}

func (c *costRun) run(ctx context.Context, args []string, stdout, _ io.Writer) error {
	maxBurn, maxAdded, err := c.limits(args)
	if err != nil {
		return &usageError{err}
	}
	plan, err := readPlan(args)
	if err != nil {
		return err
	}
	report, err := c.report(ctx, plan)
	if err != nil {
		return err
	}
	kept := report.Check(maxBurn, maxAdded)
	if err := c.review(&report); err != nil {
		return err
	}
	if err := c.print(report, stdout); err != nil {
		return err
	}
	var failed []error
	status := 0
	if !kept {
		status, failed = exitAboveLimit, append(failed, errors.New("the plan exceeds a limit, or may exceed it"))
	}
	if len(report.Differences) > 0 {
		status = exitNotReviewed
		failed = append(failed, fmt.Errorf("the plan contains changes that the review did not show:%s", list(report.Differences)))
	}
	if status == 0 {
		return nil
	}
	return &statusError{status: status, err: errors.Join(failed...)}
}

// limits checks the flags and returns the limits in kopecks per hour; nil for none.
func (c *costRun) limits(args []string) (maxBurn, maxAdded *int64, err error) {
	switch c.format {
	case "table", "markdown", "json":
	default:
		return nil, nil, errors.New("--format must be table, markdown or json")
	}
	if len(args) > 1 {
		return nil, nil, fmt.Errorf("unexpected argument %q", args[1])
	}
	limit := func(name, text string, into **int64) {
		if text == "" || err != nil {
			return
		}
		kop, parseErr := cost.ParseRubles(text)
		if parseErr != nil {
			err = fmt.Errorf("--%s %w", name, parseErr)
		}
		*into = &kop
	}
	limit("max-burn", c.maxBurn, &maxBurn)
	limit("max-added", c.maxAdded, &maxAdded)
	return maxBurn, maxAdded, err
}

// readPlan reads the plan in the file that the arguments name, or on stdin.
func readPlan(args []string) (cost.Plan, error) {
	if len(args) == 0 || args[0] == "-" {
		return cost.Read(os.Stdin)
	}
	file, err := os.Open(args[0])
	if err != nil {
		return cost.Plan{}, err
	}
	defer file.Close()
	plan, err := cost.Read(file)
	if err != nil {
		return cost.Plan{}, fmt.Errorf("%s: %w", args[0], err)
	}
	return plan, nil
}

// report returns the report of a plan, with --prices as the service returns them.
func (c *costRun) report(ctx context.Context, plan cost.Plan) (cost.Report, error) {
	if !c.prices {
		return cost.NewReport(plan), nil
	}
	found, err := findTarget("")
	if errors.Is(err, errNoAddress) {
		return cost.Report{}, &usageError{errors.New("--prices needs the address of the service: set " +
			provider.EnvBaseURL + ", or log in")}
	}
	if err != nil {
		return cost.Report{}, err
	}
	key := provider.Getenv(provider.EnvAPIKey)
	if key == "" {
		file, err := credentials.Load(found.file)
		if err != nil {
			return cost.Report{}, err
		}
		key = file.Key(found.baseURL)
	}
	client, err := found.connect(key)
	if err != nil {
		return cost.Report{}, err
	}
	defer client.CloseIdleConnections()
	report, err := cost.NewMarket(client).Report(ctx, plan, key != "")
	if err != nil {
		return cost.Report{}, fmt.Errorf("cannot read the prices: %w", err)
	}
	return report, nil
}

// review compares the report with the review.
func (c *costRun) review(report *cost.Report) error {
	if c.reviewed == "" {
		return nil
	}
	data, err := os.ReadFile(c.reviewed)
	if err != nil {
		return err
	}
	reviewed, err := cost.ReadReview(data)
	if err != nil {
		return fmt.Errorf("%s: %w", c.reviewed, err)
	}
	report.Differences = cost.Compare(reviewed, *report)
	return nil
}

func (c *costRun) print(report cost.Report, stdout io.Writer) error {
	text := ""
	switch c.format {
	case "json":
		data, err := report.JSON()
		if err != nil {
			return err
		}
		text = string(data) + "\n"
	case "markdown":
		comment, err := report.Markdown()
		if err != nil {
			return err
		}
		text = comment
	default:
		text = report.Table(newScreen(stdout, nil).terminal && os.Getenv("NO_COLOR") == "")
	}
	_, err := io.WriteString(stdout, text)
	return err
}

// list returns one line for each difference.
func list(differences []cost.Difference) (text string) {
	for _, difference := range differences {
		text += "\n  " + difference.String()
	}
	return text
}
