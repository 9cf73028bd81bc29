package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// stopped is the server of the example that the story stops for a while.
const stopped = "trainer-2"

// rest is how long it stays stopped, in the simulator's time.
const rest = time.Hour

// tell takes the example from nothing to nothing.
func tell(ctx context.Context, out *report, cli *driver, service *service) error {
	before, err := service.account(ctx)
	if err != nil {
		return err
	}
	if err := rent(ctx, out, cli); err != nil {
		return err
	}
	if err := stopAndStart(ctx, out, cli, service); err != nil {
		return err
	}
	if err := out.step("destroy", func() (string, error) { return cli.destroy(ctx) }); err != nil {
		return err
	}
	return settle(ctx, out, service, before)
}

// rent creates the example, and plans again: nothing may be left to do.
func rent(ctx context.Context, out *report, cli *driver) error {
	if err := out.step("plan", func() (string, error) { return cli.plan(ctx) }); err != nil {
		return err
	}
	if err := out.step("apply", func() (string, error) { return cli.apply(ctx) }); err != nil {
		return err
	}
	if err := out.fleet(ctx, cli, map[string]string{"trainer-1": "running", stopped: "running"}); err != nil {
		return err
	}
	return out.step("plan again", func() (string, error) { return cli.planNothing(ctx) })
}

// stopAndStart stops one server, lets time pass and starts it again.
func stopAndStart(ctx context.Context, out *report, cli *driver, service *service) error {
	if err := out.step("stop one", func() (string, error) { return cli.apply(ctx, `-var=stopped=["`+stopped+`"]`) }); err != nil {
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
		if err := service.advance(ctx, rest); err != nil {
			return "", err
		}
		later, err := service.account(ctx)
		return "an hour passes; it costs " + rubles(earlier.AvailableKop-later.AvailableKop), err
	})
	if err != nil {
		return err
	}
	if err := out.step("start it", func() (string, error) { return cli.apply(ctx) }); err != nil {
		return err
	}
	return out.fleet(ctx, cli, map[string]string{"trainer-1": "running", stopped: "running"})
}

// settle looks at what is left, past the provider: nothing that costs money, no
// key, and a ledger that explains every kopeck.
func settle(ctx context.Context, out *report, service *service, before account) error {
	after, err := service.account(ctx)
	if err != nil {
		return err
	}
	entries, sum, err := service.ledger(ctx)
	if err != nil {
		return err
	}
	out.line("\nbalance    %s before, %s after: the fleet cost %s", rubles(before.BalanceKop), rubles(after.BalanceKop), rubles(before.BalanceKop-after.BalanceKop))
	out.line("ledger     %d entries, together %s", entries, rubles(sum))
	if sum != after.BalanceKop {
		return fmt.Errorf("the ledger does not explain the balance: entries sum to %d kopecks, the balance is %d", sum, after.BalanceKop)
	}
	if after.BalanceKop >= before.BalanceKop {
		return errors.New("the fleet cost nothing")
	}
	left, err := service.left(ctx)
	if err != nil {
		return err
	}
	if left != "" {
		return fmt.Errorf("after destroy there is still: %s", left)
	}
	out.line("left       nothing: no server, template, SSH key or API key of the fleet")
	return nil
}
