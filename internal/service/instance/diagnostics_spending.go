package instance

import (
	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/gpurent/terraform-provider-gpurent/internal/spending"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfinstance"
)

// addSpendingProblems reports the problems of a spending check. Each instance beyond the limit has its own error, so
// that the apply creates none of them.
func addSpendingProblems(diags *diag.Diagnostics, problems spending.Problems) {
	tfinstance.AddSpendingProblems(diags, problems, "The instance was not rented or started.")
}
