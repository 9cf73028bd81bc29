package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// stopped is the server that the demo stops.
const stopped = "trainer-2"

// pause is the simulated time for which it is stopped.
const pause = time.Hour

// runSteps creates, changes and destroys the example.
func runSteps(ctx context.Context, out *report, cli *driver, service *service) error {
	before, err := service.account(ctx)
	if err != nil {
		return err
	}
	if err := create(ctx, out, cli); err != nil {
		return err
	}
	if err := stopAndStart(ctx, out, cli, service); err != nil {
		return err
	}
	if err := out.step("destroy", func() (string, error) { return cli.destroy(ctx) }); err != nil {
		return err
	}
	return checkAccount(ctx, out, service, before)
}

// create creates the example and expects no changes in a second plan.
func create(ctx context.Context, out *report, cli *driver) error {
	if err := out.step("plan", func() (string, error) { return cli.plan(ctx) }); err != nil {
		return err
	}
	if err := out.step("apply", func() (string, error) { return cli.apply(ctx) }); err != nil {
		return err
	}
	if err := out.fleet(ctx, cli, map[string]string{"trainer-1": "running", stopped: "running"}); err != nil {
		return err
	}
	return out.step("plan again", func() (string, error) { return cli.planUnchanged(ctx) })
}

// stopAndStart stops one server, advances the clock and starts the server again.
func stopAndStart(ctx context.Context, out *report, cli *driver, service *service) error {
	stop := func() (string, error) { return cli.apply(ctx, `-var=stopped=["`+stopped+`"]`) }
	if err := out.step("stop one", stop); err != nil {
		return err
	}
	if err := out.fleet(ctx, cli, map[string]string{"trainer-1": "running", stopped: "stopped"}); err != nil {
		return err
	}
	err := out.step("wait", func() (string, error) {
		earlier, err := service.account(ctx)
		if err != nil {
			return "", err
		}
		if err := service.advance(ctx, pause); err != nil {
			return "", err
		}
		later, err := service.account(ctx)
		return "one hour passes; cost: " + rubles(earlier.AvailableKop-later.AvailableKop), err
	})
	if err != nil {
		return err
	}
	if err := out.step("start it", func() (string, error) { return cli.apply(ctx) }); err != nil {
		return err
	}
	return out.fleet(ctx, cli, map[string]string{"trainer-1": "running", stopped: "running"})
}

// checkAccount checks through the API, without the provider, that nothing is left in the account and that the ledger
// adds up to the balance.
func checkAccount(ctx context.Context, out *report, service *service, before account) error {
	after, err := service.account(ctx)
	if err != nil {
		return err
	}
	entries, sum, err := service.ledger(ctx)
	if err != nil {
		return err
	}
	out.line("\nbalance    %s before, %s after: the fleet cost %s",
		rubles(before.BalanceKop), rubles(after.BalanceKop), rubles(before.BalanceKop-after.BalanceKop))
	out.line("ledger     %d entries, sum %s", entries, rubles(sum))
	if sum != after.BalanceKop {
		return fmt.Errorf("the sum of the ledger is %d kopecks, but the balance is %d", sum, after.BalanceKop)
	}
	if after.BalanceKop >= before.BalanceKop {
		return errors.New("the fleet cost nothing")
	}
	left, err := service.left(ctx)
	if err != nil {
		return err
	}
	if left != "" {
		return fmt.Errorf("left after destroy: %s", left)
	}
	out.line("left       nothing")
	return nil
}
