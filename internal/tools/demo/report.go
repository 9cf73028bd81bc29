package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// report prints the steps. The first write error is in err.
type report struct {
	out io.Writer
	err error
}

// line prints one line.
func (r *report) line(format string, args ...any) { r.print(format+"\n", args...) }

// step runs a step and prints its name, duration and result.
func (r *report) step(name string, do func() (string, error)) error {
	r.print("%-10s ", name)
	begin := time.Now()
	result, err := do()
	if err != nil {
		r.line("failed")
		return fmt.Errorf("%s: %w", name, err)
	}
	r.line("%4.1f s  %s", time.Since(begin).Seconds(), result)
	return nil
}

// fleet prints the servers of the example and checks their statuses.
func (r *report) fleet(ctx context.Context, cli *driver, want map[string]string) error {
	servers, err := cli.servers(ctx)
	if err != nil {
		return err
	}
	got := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		server := servers[name]
		got[name] = server.Status
		r.line("%19s%-10s %-8s %11s an hour  %s%s%s", "", name, server.Status, rubles(server.PriceKopH), server.GPU,
			text(", ", server.Country), text("  ", server.SSH))
	}
	if !maps.Equal(got, want) {
		return fmt.Errorf("the servers are %v, want %v", got, want)
	}
	return nil
}

func (r *report) print(format string, args ...any) {
	if _, err := fmt.Fprintf(r.out, format, args...); err != nil && r.err == nil {
		r.err = err
	}
}

// text returns a prefix and the value, or "" for nil.
func text(before string, value *string) string {
	if value == nil {
		return ""
	}
	return before + *value
}

// rubles formats kopecks: 123456 is "1 234,56 ₽".
func rubles(kopecks int64) string {
	sign := ""
	if kopecks < 0 {
		sign, kopecks = "-", -kopecks
	}
	digits := strconv.FormatInt(kopecks/100, 10)
	var grouped []string
	for len(digits) > 3 {
		grouped = append(grouped, digits[len(digits)-3:])
		digits = digits[:len(digits)-3]
	}
	grouped = append(grouped, digits)
	slices.Reverse(grouped)
	return fmt.Sprintf("%s%s,%02d ₽", sign, strings.Join(grouped, " "), kopecks%100)
}
