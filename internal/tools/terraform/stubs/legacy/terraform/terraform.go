// Package terraform is empty, like its parent.
package terraform
