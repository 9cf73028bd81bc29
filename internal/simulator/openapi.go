package simulator

import (
	"encoding/json"

	"github.com/gpurent/terraform-provider-gpurent/internal/contract"
)

func (c *call) getOpenAPI() (any, error) { return json.RawMessage(contract.Document()), nil }
