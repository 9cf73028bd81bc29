package console_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// screenshots is the variable with the folder of TestScreenshots. "make images" sets it.
const screenshots = "GPURENT_SCREENSHOTS"

// TestScreenshots takes the screenshots of the pages for the documentation.
func TestScreenshots(t *testing.T) {
	folder := os.Getenv(screenshots)
	if folder == "" {
		t.Skip("no pictures wanted: set " + screenshots + " to a folder for them")
	}
	server := start(t)
	busy(t, server)
	_, login := call(t, server, "POST", "/auth/device", `{"client_name": "terraform on build-7"}`)
	approval, _ := login["verification_uri_complete"].(string)
	page := open(t, server, "en")
	for _, shot := range []struct {
		name, address, waitFor, mode string
		width, height                int64
	}{
		{"console-light", server.ConsoleURL, "ssh -p", "light", 1280, 840},
		{"console-dark", server.ConsoleURL, "ssh -p", "dark", 1280, 840},
		{"login-approval", approval, login["user_code"].(string), "light", 800, 520},
	} {
		page.run(size(shot.width, shot.height), scheme(shot.mode), chromedp.Navigate(shot.address))
		page.shows("main", shot.waitFor)
		ctx, cancel := context.WithTimeout(page.ctx, timeout)
		picture, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
		cancel()
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, shot.name+".png"), picture, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// busy creates instances in many states and some hours of history.
func busy(t *testing.T, server *simulator.Server) {
	t.Helper()
	set := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	rent(t, server, "trainer-0", "on_demand", "pytorch-jupyter", 20)
	rent(t, server, "trainer-1", "on_demand", "pytorch-jupyter", 22)
	bid, bidOffer := rent(t, server, "sweep-a", "interruptible", "pytorch", 10)
	_, goneOffer := rent(t, server, "sweep-b", "interruptible", "pytorch", 12)
	server.Advance(5*time.Hour + 20*time.Minute)
	set(server.SetOffer(bidOffer, simulator.OfferPatch{InterruptibleKopH: new(int64(90_000))}))
	set(server.SetOffer(goneOffer, simulator.OfferPatch{Online: new(false)}))
	set(server.SetAccount(simulator.AccountPatch{CreditLimitKop: new(int64(500_000))}))
	server.Advance(3 * time.Hour)
	if bid == "" {
		t.Fatal("nothing was rented")
	}
	failed, _ := rent(t, server, "renderer", "on_demand", "blender", 2)
	set(server.SetInstance(failed, simulator.InstancePatch{Status: new("failed")}))
	rent(t, server, "llm", "on_demand", "vllm", 30)
	server.Advance(4 * time.Minute)
	set(server.AddFault(simulator.Fault{Path: "/gpus", Status: 503}))
}
