package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"

	"github.com/gpurent/terraform-provider-gpurent/internal/cost"
)

// showPlan prints the JSON of a saved plan.
const showPlan = "terraform show -json saved.plan"

// exitAboveLimit is the exit code of cost for a plan that exceeds a limit.
const exitAboveLimit = 3

func costCommand() command {
	return command{
		name:  "cost",
		short: "Show what a plan costs",
		args:  "[PLAN.json|-]",
		long: "Shows what a plan costs: the price of each server now and after the apply, and the sums. It reads the " +
			"output of terraform show -json PLAN, or of tofu show -json PLAN, from a file or stdin.\n\n" +
			"A new server counts with its price cap. With --prices, it counts with the price that the cheapest matching " +
			"offers have now. Without --prices, the command uses no network.\n\n" +
			"Exit status: 0; 1 failed; 2 usage; 3 the plan exceeds a limit, or may exceed it.",
		example: showPlan + " | " + program + " cost",
		page:    "command-line.md#cost",
		prepare: func(flags *flag.FlagSet) runFunc {
			c := new(costRun)
			flags.StringVar(&c.format, "format", "table", "table, markdown: a comment for a pull request, or json")
			flags.BoolVar(&c.prices, "prices", false, "read the prices of offers from the service")
			flags.Func("max-burn", "`RUB` per hour: highest price of all servers of the plan after the apply",
				parseLimit(&c.maxBurn))
			flags.Func("max-added", "`RUB` per hour: most that the apply may add to that price", parseLimit(&c.maxAdded))
			return c.run
		},
	}
}

// costRun is one run of the cost command.
type costRun struct {
	format            string
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
	report, err := c.report(ctx, plan)
	if err != nil {
		return err
	}
	kept := report.Check(c.maxBurn, c.maxAdded)
	if err := c.print(report, stdout); err != nil {
		return err
	}
	if !kept {
		return &exitError{exitAboveLimit, errors.New("the plan exceeds a limit, or may exceed it")}
	}
	return nil
}

// readPlan reads the plan in the file that the arguments name, or on stdin.
func readPlan(args []string) (plan cost.Plan, err error) {
	name := standardInput
	if len(args) > 0 {
		name = args[0]
	}
	err = withInput(name, showPlan, func(input io.Reader) error {
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
	client, err := connectAccount()
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

func (c *costRun) print(report cost.Report, stdout io.Writer) (err error) {
	var text string
	switch c.format {
	case "json":
		text, err = report.JSON()
	case "markdown":
		text = report.Markdown()
	default:
		text = report.Table()
	}
	if err == nil {
		_, err = io.WriteString(stdout, text)
	}
	return err
}
