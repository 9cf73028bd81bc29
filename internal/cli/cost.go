package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"

	"github.com/gpurent/terraform-provider-gpurent/internal/cost"
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
			flags.Func("max-burn", "`RUB` per hour: highest price of all servers of the plan after the apply",
				parseLimit(&c.maxBurn))
			flags.Func("max-added", "`RUB` per hour: most that the apply may add to that price", parseLimit(&c.maxAdded))
			flags.StringVar(&c.reviewed, "reviewed", "",
				"`FILE` with the output for the reviewed plan, as json or markdown: other changes are refused")
			return c.run
		},
	}
}

// costRun is one run of the cost command.
type costRun struct {
	format, reviewed  string
	prices            bool
	maxBurn, maxAdded *int64 // kopecks per hour; nil for no limit
}

// parseLimit returns the parser of a flag with an amount in rubles.
func parseLimit(into **int64) func(string) error {
	return func(text string) error {
		kop, err := cost.ParseRubles(text)
		*into = &kop
		return err
	}
}

func (c *costRun) run(ctx context.Context, args []string, stdout, _ io.Writer) error {
	if err := checkFormat(c.format, "table", "markdown", "json"); err != nil {
		return err
	}
	if len(args) > 1 {
		return usageError("unexpected argument %q", args[1])
	}
	plan, err := readPlan(args)
	if err != nil {
		return err
	}
	reviewed, err := c.readReview()
	if err != nil {
		return err
	}
	report, err := c.report(ctx, plan)
	if err != nil {
		return err
	}
	kept := report.Check(c.maxBurn, c.maxAdded)
	if reviewed != nil {
		report.Differences = cost.Compare(*reviewed, report)
	}
	if err := c.print(report, stdout); err != nil {
		return err
	}
	if kept {
		err = nil
	} else {
		err = &exitError{exitAboveLimit, errors.New("the plan exceeds a limit, or may exceed it")}
	}
	if len(report.Differences) > 0 {
		var differences []error
		for _, difference := range report.Differences {
			differences = append(differences, fmt.Errorf("  %s", difference))
		}
		const message = "the plan contains changes that the review did not show:\n%w"
		err = &exitError{exitNotReviewed, errors.Join(err, fmt.Errorf(message, errors.Join(differences...)))}
	}
	return err
}

// readPlan reads the plan in the file that the arguments name, or on stdin.
func readPlan(args []string) (plan cost.Plan, err error) {
	name := standardInput
	if len(args) > 0 {
		name = args[0]
	}
	err = withInput(name, func(input io.Reader) error {
		plan, err = cost.Read(input)
		return err
	})
	if err != nil {
		return plan, fmt.Errorf("cannot read the plan in %s: %w", name, err)
	}
	return plan, nil
}

// report returns the report of a plan, with --prices as the service returns them.
func (c *costRun) report(ctx context.Context, plan cost.Plan) (cost.Report, error) {
	if !c.prices {
		return cost.NewReport(plan), nil
	}
	client, err := connectAccount("")
	if err != nil {
		return cost.Report{}, err
	}
	defer client.CloseIdleConnections()
	report, err := cost.NewReportWithPrices(ctx, client, plan)
	if err != nil {
		return cost.Report{}, fmt.Errorf("cannot read the prices: %w%s", err, keyAdvice(err))
	}
	return report, nil
}

// readReview returns the report of the review; nil without the flag.
func (c *costRun) readReview() (*cost.Report, error) {
	if c.reviewed == "" {
		return nil, nil
	}
	var reviewed cost.Report
	err := withInput(c.reviewed, func(input io.Reader) error {
		data, err := io.ReadAll(input)
		if err == nil {
			reviewed, err = cost.ReadReview(data)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("cannot read the review in %s: %w", c.reviewed, err)
	}
	return &reviewed, nil
}

func (c *costRun) print(report cost.Report, stdout io.Writer) error {
	var text string
	var err error
	switch c.format {
	case "json":
		text, err = report.JSON()
	case "markdown":
		text, err = report.Markdown()
	default:
		text = report.Table()
	}
	if err == nil {
		_, err = io.WriteString(stdout, text)
	}
	return err
}
