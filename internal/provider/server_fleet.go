package provider

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/vmihailenco/msgpack/v5"

	"github.com/gpurent/terraform-provider-gpurent/internal/service/fleet"
)

// The framework decodes, walks and encodes the whole state in each call. For a fleet of thousands of members that takes
// seconds, also if nothing has changed. The functions of this file answer such calls without decoding the state. They
// return false if the framework has to.

// fleetVersion is the version of the schema of a fleet.
const fleetVersion = 0

// upgradedFleet returns the state of a fleet as it is stored if it has the present schema.
func upgradedFleet(
	req *tfprotov6.UpgradeResourceStateRequest,
) (*tfprotov6.UpgradeResourceStateResponse, bool) {
	if req.TypeName != fleet.TypeName || req.Version != fleetVersion || req.RawState == nil ||
		!fleet.StateIsCurrent(req.RawState.JSON) {
		return nil, false
	}
	state, err := toMsgPack(req.RawState.JSON)
	if err != nil {
		return nil, false
	}
	return &tfprotov6.UpgradeResourceStateResponse{UpgradedState: &tfprotov6.DynamicValue{MsgPack: state}}, true
}

// readFleet returns the state of a fleet if the API returns the same as at the last refresh.
func (s *server) readFleet(
	ctx context.Context, req *tfprotov6.ReadResourceRequest,
) (*tfprotov6.ReadResourceResponse, bool) {
	if req.TypeName != fleet.TypeName || req.CurrentIdentity == nil ||
		!fleet.Unchanged(ctx, s.provider.meta.Load(), req.Private) {
		return nil, false
	}
	return &tfprotov6.ReadResourceResponse{
		NewState: req.CurrentState, Private: req.Private, NewIdentity: req.CurrentIdentity,
	}, true
}

// toMsgPack returns a stored state in the encoding of the protocol. The CLI needs much longer to decode the numbers of
// JSON.
func toMsgPack(state []byte) ([]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(state))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	var encoded bytes.Buffer
	encoder := msgpack.NewEncoder(&encoded)
	encoder.SetSortMapKeys(true)
	encoder.UseCompactInts(true)
	err := encoder.Encode(withIntegers(value))
	return encoded.Bytes(), err
}

// withIntegers replaces the numbers of decoded JSON with integers where possible, else with texts.
func withIntegers(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for name, element := range v {
			v[name] = withIntegers(element)
		}
	case []any:
		for i, element := range v {
			v[i] = withIntegers(element)
		}
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		return v.String() // a floating-point number would not be equal to the one of the configuration
	}
	return value
}
