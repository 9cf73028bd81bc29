package simulator

// gpuModel is a GPU model and the properties of servers with it.
type gpuModel struct {
	seq    int64
	slug   string
	name   string
	tier   string
	vramGB int64
	// Per GPU.
	tflops   float64
	memBWGBs int64
	dlperf   float64
	// The range of on-demand prices per GPU, kopecks per hour.
	lowKopH, highKopH int64
	pcieGen           int64
	pcieBWGBs         float64
	cudaMax           float64
	// The number of offers with one, two, four and eight GPUs.
	single, double, quad, octo int
}

func (m gpuModel) sequence() int64 { return m.seq }

// gpuModels are all GPU models. One of them has no offers.
var gpuModels = []gpuModel{
	{1, "rtx_3060", "RTX 3060", "consumer", 12, 12.7, 360, 9, 900, 1500, 4, 12, 12.8, 3, 1, 0, 0},
	{2, "rtx_3090", "RTX 3090", "consumer", 24, 35.6, 936, 22, 2200, 3600, 4, 24, 12.8, 5, 2, 2, 1},
	{3, "rtx_4070_ti", "RTX 4070 Ti", "consumer", 12, 40.1, 504, 21, 2400, 3400, 4, 24, 12.8, 3, 1, 0, 0},
	{4, "rtx_4090", "RTX 4090", "consumer", 24, 82.6, 1008, 41, 4500, 7000, 4, 25, 12.9, 9, 4, 3, 2},
	{5, "rtx_5090", "RTX 5090", "consumer", 32, 104.8, 1792, 62, 6800, 9900, 5, 50, 13, 5, 2, 1, 1},
	{6, "rtx_a4000", "RTX A4000", "workstation", 16, 19.2, 448, 13, 1500, 2300, 4, 22, 12.6, 3, 1, 1, 0},
	{7, "rtx_a6000", "RTX A6000", "workstation", 48, 38.7, 768, 27, 5200, 7600, 4, 25, 12.8, 3, 2, 1, 1},
	{8, "l40s", "L40S", "datacenter", 48, 91.6, 864, 44, 8500, 12500, 4, 26, 12.8, 3, 2, 2, 1},
	{9, "a100_sxm4_40gb", "A100 SXM4 40GB", "datacenter", 40, 19.5, 1555, 38, 9500, 14000, 4, 24, 12.6, 2, 1, 1, 1},
	{10, "a100_sxm4_80gb", "A100 SXM4 80GB", "datacenter", 80, 19.5, 2039, 43, 12500, 19500, 4, 26, 12.8, 3, 2, 2, 2},
	{11, "h100_sxm", "H100 SXM", "datacenter", 80, 66.9, 3350, 92, 21000, 32000, 5, 53, 12.9, 3, 2, 2, 2},
	{12, "h200", "H200", "datacenter", 141, 66.9, 4800, 104, 29000, 42000, 5, 54, 13, 2, 1, 1, 2},
	{13, "b200", "B200", "datacenter", 180, 80, 8000, 170, 52000, 68000, 5, 56, 13, 0, 0, 0, 0},
	{14, "tesla_t4", "Tesla T4", "legacy", 16, 8.1, 320, 6, 1100, 1900, 3, 11, 12.4, 3, 1, 1, 0},
	{15, "tesla_v100", "Tesla V100", "legacy", 32, 15.7, 900, 18, 2800, 4600, 3, 12, 12.4, 2, 1, 1, 1},
}

// popularModel always has a few cheap, verified offers with one GPU.
const popularModel = "rtx_4090"

type gpuModelView struct {
	Slug                  string `json:"slug"`
	Name                  string `json:"name"`
	VRAMGB                int64  `json:"vram_gb"`
	Tier                  string `json:"tier"`
	AvailableGPUs         int64  `json:"available_gpus"`
	FromKopH              *int64 `json:"from_kop_h"`
	FromInterruptibleKopH *int64 `json:"from_interruptible_kop_h"`
}

func (e *engine) viewModel(m gpuModel) gpuModelView {
	view := gpuModelView{Slug: m.slug, Name: m.name, VRAMGB: m.vramGB, Tier: m.tier}
	for _, o := range e.offers {
		if o.model.slug != m.slug || !o.available() {
			continue
		}
		view.AvailableGPUs += o.GPU.Count
		view.FromKopH = minPrice(view.FromKopH, ceilDiv(o.OnDemandKopH, o.GPU.Count))
		if o.InterruptibleKopH != nil {
			view.FromInterruptibleKopH = minPrice(view.FromInterruptibleKopH, ceilDiv(*o.InterruptibleKopH, o.GPU.Count))
		}
	}
	return view
}

func minPrice(best *int64, price int64) *int64 {
	if best == nil || price < *best {
		return &price
	}
	return best
}

// ceilDiv divides non-negative numbers and rounds up. Prices are never rounded down.
func ceilDiv(a, b int64) int64 { return (a + b - 1) / b }

func (c *call) listGpus() (any, error) {
	return listPage(c, "gpus", parseQuery(c.r.URL), gpuModels, false, keepAll, c.viewModel)
}
