package console_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// screenshots is the variable with the folder of TestScreenshots.
const screenshots = "GPURENT_SCREENSHOTS"

// TestScreenshots takes screenshots of the pages.
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
		name, address, waitFor string
	}{
		{"dashboard", server.ConsoleURL, "ssh -p"}, {"approval", approval, login["user_code"].(string)},
		{"entry", server.ConsoleURL + "device", ""},
	} {
		for _, language := range []string{"en", "ru"} {
			for _, mode := range []string{"light", "dark"} {
				for name, width := range map[string]int64{"desk": 1280, "phone": 390} {
					page.run(size(width, 844), scheme(mode),
						chromedp.Navigate(server.ConsoleURL+"console/language?to="+language),
						chromedp.Navigate(shot.address))
					page.shows("main", shot.waitFor)
					ctx, cancel := context.WithTimeout(page.ctx, timeout)
					picture, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
					cancel()
					if err != nil {
						t.Fatal(err)
					}
					file := filepath.Join(folder, fmt.Sprintf("%s-%s-%s-%s.png", shot.name, name, mode, language))
					if err := os.WriteFile(file, picture, 0o600); err != nil {
						t.Fatal(err)
					}
				}
			}
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
