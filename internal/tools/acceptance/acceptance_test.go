package main

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func TestRelay(t *testing.T) {
	for name, test := range map[string]struct {
		events  []string
		printed string
		count   tally
	}{
		"a package that passes prints one line": {
			events: []string{
				`{"Action":"start","Package":"p"}`,
				`{"Action":"run","Package":"p","Test":"TestAccA"}`,
				`{"Action":"output","Package":"p","Test":"TestAccA","Output":"=== RUN   TestAccA\n"}`,
				`{"Action":"pass","Package":"p","Test":"TestAccA/case"}`,
				`{"Action":"pass","Package":"p","Test":"TestAccA"}`,
				`{"Action":"skip","Package":"p","Test":"TestAccB"}`,
				`{"Action":"output","Package":"p","Output":"PASS\n"}`,
				`{"Action":"output","Package":"p","Output":"ok  \tp\t1.2s\n"}`,
				`{"Action":"pass","Package":"p"}`,
			},
			printed: "ok  \tp\t1.2s\n",
			count:   tally{passed: 1, skipped: 1},
		},
		"a test that fails prints all it said": {
			events: []string{
				`{"Action":"output","Package":"p","Test":"TestAccA/case","Output":"bad\n"}`,
				`{"Action":"fail","Package":"p","Test":"TestAccA/case"}`,
				`{"Action":"output","Package":"p","Test":"TestAccA","Output":"--- FAIL: TestAccA\n"}`,
				`{"Action":"fail","Package":"p","Test":"TestAccA"}`,
				`{"Action":"output","Package":"p","Output":"FAIL\tp\t1.2s\n"}`,
				`{"Action":"fail","Package":"p"}`,
			},
			printed: "bad\n--- FAIL: TestAccA\nFAIL\tp\t1.2s\n",
			count:   tally{failed: 1},
		},
		"a test that hangs prints where": {
			events: []string{
				`{"Action":"output","Package":"other","Test":"TestAccA","Output":"not this\n"}`,
				`{"Action":"output","Package":"p","Test":"TestAccA","Output":"panic: test timed out\n"}`,
				`{"Action":"output","Package":"p","Output":"FAIL\tp\t600s\n"}`,
				`{"Action":"fail","Package":"p"}`,
			},
			printed: "FAIL\tp\t600s\npanic: test timed out\n",
			count:   tally{failed: 1},
		},
		"a package that does not build prints the compiler's words": {
			events: []string{
				`{"Action":"build-output","ImportPath":"p","Output":"undefined: x\n"}`,
				`{"Action":"output","Package":"p","Output":"FAIL\tp [build failed]\n"}`,
				`{"Action":"fail","Package":"p"}`,
			},
			printed: "undefined: x\nFAIL\tp [build failed]\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var printed strings.Builder
			count, err := relay(strings.NewReader(strings.Join(test.events, "\n")), &printed)
			if err != nil {
				t.Fatal(err)
			}
			if count != test.count || printed.String() != test.printed {
				t.Errorf("%v and printed %q, want %v and %q", count, &printed, test.count, test.printed)
			}
		})
	}
}

func TestRelayOfSomethingElse(t *testing.T) {
	if _, err := relay(strings.NewReader("go: no such tool"), &strings.Builder{}); err == nil {
		t.Error("what is no event was taken for one")
	}
}

func TestPackagesWithTests(t *testing.T) {
	source := func(code string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(code)} }
	got, err := packagesWithTests(fstest.MapFS{
		"a/one_test.go":          source("package a\n\nfunc TestAccOne() {}"),
		"a/two_test.go":          source("package a\n\nfunc TestAccTwo() {}"),
		"a/b/deep_test.go":       source("package b\n\nfunc TestAccDeep() {}\n\n// and some hundred lines that take long"),
		"a/b/unit_test.go":       source("package b\n\nfunc TestUnit() {} // which count as well"),
		"c/unit_test.go":         source("package c\n\n// not func TestAcc\nfunc TestUnit() {}"),
		"d/code.go":              source("package d\n\nfunc TestAccNone() {}"),
		"d/account_test.go":      source("package d\n\nfunc TestAccount() {}"),
		"e/testdata/x_test.go":   source("package x\n\nfunc TestAccX() {}"),
		".cache/old/old_test.go": source("package old\n\nfunc TestAccOld() {}"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"./a/b", "./a"}; !slices.Equal(got, want) {
		t.Errorf("packages %q, want %q", got, want)
	}
}

func TestWithPackages(t *testing.T) {
	module := fstest.MapFS{"a/a_test.go": {Data: []byte("func TestAccA(t *testing.T) {}")}}
	for _, test := range []struct{ given, want []string }{
		{nil, []string{"./a"}},
		{[]string{"-acctest.quirks=all"}, []string{"./a", "-acctest.quirks=all"}},
		{[]string{"./b", "-v"}, []string{"./b", "-v"}},
	} {
		if got, err := withPackages(module, test.given); err != nil || !slices.Equal(got, test.want) {
			t.Errorf("%q: %q, %v, want %q", test.given, got, err, test.want)
		}
	}
}
