package simulator

import (
	"math"
	"math/rand/v2"
	"slices"
)

// maxPriceKopH limits prices, so that no charge overflows.
const maxPriceKopH = 10_000_000

// stableOffers is the number of offers of the popular model that are complete, cheap and verified with every seed.
const stableOffers = 3

var locations = []struct{ country, region string }{
	{"RU", "Moscow"}, {"RU", "Saint Petersburg"}, {"RU", "Novosibirsk"}, {"DE", "Hesse"}, {"NL", "North Holland"},
	{"FI", "Uusimaa"}, {"KZ", "Almaty"}, {"US", "Oregon"}, {"US", "Virginia"}, {"PL", "Mazovia"}, {"SE", "Stockholm"},
}

var processors = []struct {
	name  string
	cores int64
}{
	{"AMD EPYC 7543", 64}, {"AMD EPYC 9354", 64}, {"AMD Ryzen 9 7950X", 32}, {"Intel Xeon Gold 6338", 64},
	{"AMD Ryzen Threadripper PRO 5975WX", 64}, {"Intel Core i9-13900K", 32}, {"Intel Xeon Silver 4314", 32},
}

var drivers = []string{"550.127.08", "560.35.03", "570.133.20", "580.95.05"}

// generateOffers generates the offers of a seed, scale times the usual number.
func generateOffers(seed uint64, scale int) []*offer {
	rng := rand.New(rand.NewPCG(seed, 2))
	var offers []*offer
	for range scale {
		offers = append(offers, generateServers(rng)...)
	}
	return offers
}

func generateServers(rng *rand.Rand) []*offer {
	var offers []*offer
	for _, m := range gpuModels {
		for _, size := range []struct {
			gpus    int64
			servers int
		}{{1, m.single}, {2, m.double}, {4, m.quad}, {8, m.octo}} {
			for n := range size.servers {
				o := newOffer(rng, m, size.gpus)
				switch {
				case m.slug == popularModel && size.gpus == 1 && n < stableOffers:
					makeStable(o, rng)
				case len(offers)%3 == 0:
					clearField(o, len(offers)/3)
				case len(offers)%11 == 5:
					o.Listed = false
				}
				o.basePrice = o.prices
				offers = append(offers, o)
			}
		}
	}
	rng.Shuffle(len(offers), func(a, b int) { offers[a], offers[b] = offers[b], offers[a] })
	return offers
}

func newOffer(rng *rand.Rand, m gpuModel, gpus int64) *offer {
	between := func(low, high int64) int64 { return low + rng.Int64N(high-low+1) }
	round := func(v float64, digits float64) float64 { return math.Round(v*digits) / digits }
	place, cpu := locations[rng.IntN(len(locations))], processors[rng.IntN(len(processors))]
	cores := max(cpu.cores/8*gpus, 8)
	perGPU := between(m.lowKopH, m.highKopH)
	interruptible := perGPU * gpus * between(45, 70) / 100
	storage := between(600, 1500)
	down := between(3, 60) * 100
	return &offer{
		model: m,
		offerState: &offerState{
			Listed: true, prices: prices{perGPU * gpus, &interruptible},
		},
		offerView: offerView{
			ID:       "off_" + randomID(rng, 10),
			Verified: rng.IntN(3) > 0, Country: new(place.country), Region: new(place.region),
			GPU: offerGPU{
				m.slug, m.name, gpus, m.vramGB, new(round(m.tflops*float64(gpus), 10)), new(m.memBWGBs),
			},
			CPU: offerCPU{new(cpu.name), &cores}, RAMGB: new(between(4, 8) * 8 * gpus),
			Disk:    offerDisk{MaxGB: new(between(3, 40) * 50), BWMBps: new(between(8, 65) * 100)},
			Network: offerNetwork{new(down * between(40, 100) / 100), &down, new(between(2, 50) * 10)},
			PCIe:    offerPCIe{new(m.pcieGen), new(round(m.pcieBWGBs*(0.85+0.15*rng.Float64()), 10))},
			CUDAMax: new(m.cudaMax), Driver: new(drivers[rng.IntN(len(drivers))]),
			Reliability: new(round(0.92+0.0799*rng.Float64(), 10000)), MaxDurationDays: new(between(5, 365)),
			DLPerf: new(round(m.dlperf*float64(gpus)*(0.9+0.15*rng.Float64()), 10)),
			Price:  offerPrice{StorageKopGBMonth: storage, TrafficKopGB: between(0, 4) * 25},
		},
	}
}

// makeStable makes an offer suitable for first configurations.
func makeStable(o *offer, rng *rand.Rand) {
	o.Verified, o.stable = true, true
	o.OnDemandKopH = o.model.lowKopH + rng.Int64N(500)
	o.InterruptibleKopH = new(o.OnDemandKopH * 6 / 10)
	o.Disk.MaxGB = new(max(*o.Disk.MaxGB, 500))
	o.Reliability = new(max(*o.Reliability, 0.98))
	o.Network.DownMbps = new(max(*o.Network.DownMbps, 1000))
}

// clearField clears one of the optional fields. The number n selects it.
func clearField(o *offer, n int) {
	facts := []func(){
		func() { o.InterruptibleKopH = nil },
		func() { o.Country, o.Region = nil, nil },
		func() { o.Region = nil },
		func() { o.GPU.TotalTFLOPS = nil },
		func() { o.GPU.MemBWGBs = nil },
		func() { o.CPU.Name, o.CPU.Cores = nil, nil },
		func() { o.RAMGB = nil },
		func() { o.Disk.MaxGB = nil },
		func() { o.Disk.BWMBps = nil },
		func() { o.Network.UpMbps, o.Network.DownMbps = nil, nil },
		func() { o.Network.Ports = nil },
		func() { o.PCIe.Gen, o.PCIe.BWGBs = nil, nil },
		func() { o.CUDAMax = nil },
		func() { o.Driver = nil },
		func() { o.Reliability = nil },
		func() { o.MaxDurationDays = nil },
		func() { o.DLPerf = nil },
	}
	facts[n%len(facts)]()
}

// setPrice changes prices of an offer; nil leaves a price unchanged. An instance whose bid is below the new price is
// outbid.
func (e *engine) setPrice(o *offer, onDemand, interruptible *int64) {
	e.PriceChanges++
	o.Past = append(o.Past, pastPrice{e.PriceChanges, e.Now, o.prices})
	old := max(len(o.Past)-maxPastPrices, 0)
	for e.Now.Sub(o.Past[old].At) > pastPriceLife {
		old++
	}
	o.Past = slices.Delete(o.Past, 0, old)
	if onDemand != nil {
		o.OnDemandKopH = *onDemand
	}
	if interruptible != nil {
		o.InterruptibleKopH = new(*interruptible)
	}
	if i := o.rentedBy; i != nil && i.isOutbid() {
		e.outbid(i)
	}
}
