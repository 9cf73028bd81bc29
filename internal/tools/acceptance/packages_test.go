package main

import (
	"slices"
	"testing"
	"testing/fstest"
)

func TestWithPackages(t *testing.T) {
	source := func(code string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(code)} }
	module := fstest.MapFS{
		"internal/a/one_test.go":    source("package a\n\nfunc TestAccOne() {}"),
		"internal/a/b/deep_test.go": source("package b\n\nfunc TestAccDeep() {}"),
		"internal/c/unit_test.go":   source("package c\n\n// not func TestAcc\nfunc TestUnit() {}"),
		"internal/d/code.go":        source("package d\n\nfunc TestAccNone() {}"),
		"internal/d/name_test.go":   source("package d\n\nfunc TestAccount() {}"),
	}
	for _, test := range []struct{ given, want []string }{
		{nil, []string{"./internal/a/b", "./internal/a"}},
		{[]string{"-acctest.quirks=all"}, []string{"./internal/a/b", "./internal/a", "-acctest.quirks=all"}},
		{[]string{"./internal/c", "-v"}, []string{"./internal/c", "-v"}},
	} {
		if got, err := withPackages(module, test.given); err != nil || !slices.Equal(got, test.want) {
			t.Errorf("withPackages(%q) = %q, %v, want %q", test.given, got, err, test.want)
		}
	}
}
