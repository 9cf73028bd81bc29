package rentaltest_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
)

// An example to copy. The response to a start is lost, and the client repeats the request, which the API refuses
// because the instance is starting. The log can be read when the instance runs.
func TestService(t *testing.T) {
	service := rentaltest.New(rental.OnDemand, rental.StatusStopped, rental.DesiredStopped)
	rentaltest.Run(t, service, func(t *testing.T, s *rentaltest.Service, client *rental.Client) {
		ctx := rentaltest.Within(t, time.Minute)
		s.Lag = 5 * time.Second // of reads
		s.On["start"] = func(s *rentaltest.Service) int {
			if s.Inst.Status == rental.StatusStarting {
				return http.StatusConflict
			}
			rentaltest.Starts(s)
			return 0 // cuts the connection
		}
		s.Script("GET /instances/*/logs", rentaltest.InTurn(
			rentaltest.Fail(http.StatusConflict), rentaltest.Respond(200, map[string]any{"lines": []string{"READY"}}),
		))
		if _, err := client.StartInstance(ctx, rentaltest.ID); !rental.IsConflict(err) {
			t.Errorf("got %v", err)
		}
		for _, want := range []rental.InstanceStatus{"stopped", "starting", "running"} {
			if inst, err := client.GetInstance(ctx, rentaltest.ID); err != nil || inst.Status != want {
				t.Errorf("%s, %v, want %s", inst.Status, err, want)
			}
			_, err := client.GetInstanceLogs(ctx, rentaltest.ID, 100)
			if first := want == "stopped"; (err != nil) != first {
				t.Errorf("the log of the %s instance: %v", want, err)
			}
			time.Sleep(7 * time.Second)
		}
		if s.Changes() != "start start" || len(s.Sent("GET /instances/*")) != 3 {
			t.Errorf("sent %v", s.Sent(""))
		}
	})
}
