// Package tfinstance has the Terraform schema, values, plan checks and messages of instances, which the resources for
// instances and fleets share.
package tfinstance
