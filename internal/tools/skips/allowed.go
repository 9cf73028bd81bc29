package main

import (
	"regexp"
	"runtime"
)

// allowance is a kind of skip that is no error in CI.
type allowance struct {
	// pattern matches the name of the test and its output, as "internal/rental.TestList/empty: ...".
	pattern string
	reason  string
	// oneCLI restricts the allowance to a run with one CLI, which can be an old version or OpenTofu.
	oneCLI bool
	// notLinux restricts the allowance to other systems than Linux.
	notLinux bool
}

var allowed = []allowance{
	{
		pattern: `(?s)\.TestAcc.*is too old: needs Terraform`, oneCLI: true,
		reason: "Old versions of Terraform, and OpenTofu, have no list resources and no actions.",
	},
	{
		pattern: `no pictures wanted`,
		reason:  "These tests take the screenshots of the documentation, and check nothing.",
	},
	{
		pattern: `^internal/acctest\.TestFirstCLIOnly/2/2:`,
		reason:  "The test checks that this subtest is skipped.",
	},
	{
		pattern: `only root can give a file to another user`,
		reason:  "GitHub's runners have no root. .ci/run has.",
	},
	{
		pattern: `^internal/bench\.TestCost:`,
		reason:  "Its numbers are those of 64-bit Linux; one job of test.yml runs on 32 bits.",
	},
	{
		pattern: `^internal/cost\.TestRecordPlans:`,
		reason:  "It records test data, and checks nothing.",
	},
	{
		pattern: `no Chromium on PATH`, notLinux: true,
		reason: "Only the Linux runners have it.",
	},
	{
		pattern:  `(?i)Windows|shell|these systems always have a desktop|it would open a browser|SSL_CERT_FILE|on Linux`,
		notLinux: true,
		reason:   "These systems have other file modes, signals, shells, links and certificate stores.",
	},
}

// isAllowed reports whether a skip is in the list.
func isAllowed(skip string, oneCLI bool) bool {
	for _, each := range allowed {
		if each.oneCLI && !oneCLI || each.notLinux && runtime.GOOS == "linux" {
			continue
		}
		if regexp.MustCompile(each.pattern).MatchString(skip) {
			return true
		}
	}
	return false
}
