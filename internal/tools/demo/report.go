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

// report prints the story. Its first failure to print is kept in err.
type report struct {
	out io.Writer
	err error
}

// line prints one line.
func (r *report) line(format string, args ...any) { r.print(format+"\n", args...) }

// step prints what is being done, and how it ended and after how long.
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

// fleet prints the example's servers, and fails unless they have the statuses.
func (r *report) fleet(ctx context.Context, cli *driver, want map[string]string) error {
	servers, err := cli.servers(ctx)
	if err != nil {
		return err
	}
	got := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		server := servers[name]
		got[name] = server.Status
		r.line("%19s%-10s %-8s %11s an hour  %s%s%s", "", name, server.Status, rubles(server.PriceKopH), server.GPU, text(", ", server.Country), text("  ", server.SSH))
	}
	if !maps.Equal(got, want) {
		return fmt.Errorf("the servers are %v, not %v", got, want)
	}
	return nil
}

func (r *report) print(format string, args ...any) {
	if _, err := fmt.Fprintf(r.out, format, args...); err != nil && r.err == nil {
		r.err = err
	}
}

// text is the value with something before it, or nothing.
func text(before string, value *string) string {
	if value == nil {
		return ""
	}
	return before + *value
}

// rubles writes kopecks for people: 123456 is "1 234,56 ₽".
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
