package rental

import (
	"context"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const (
	userJSON = `{"id":"u1","email":"a@example.com","name":"Anna","created_at":"2026-01-02T03:04:05Z","two_factor":true,
		"email_verified":true,"telegram_linked":false,"later":"added"}`
	instanceJSON = `{"id":"i/1","name":"train","status":"running","desired_state":"running","type":"on_demand",
		"gpu":{"slug":"rtx-4090","name":"RTX 4090","count":2,"vram_gb":24},"template":{"slug":"cuda","name":"CUDA"},
		"image":"cuda:12","disk_gb":50,"country":"DE","price":{"running_kop_h":9000,"stopped_kop_h":150,"traffic_kop_gb":80},
		"cost_so_far_kop":12345,"ssh":{"host":"h.example","port":2222,"user":"root","command":"ssh -p 2222 root@h.example"},
		"urls":[{"label":"Jupyter","url":"https://j.example"},{"label":"Board","url":null}],
		"created_at":"2026-01-02T03:04:05Z","started_at":"2026-01-02T03:05:05Z","stop_reason":null,"later":{"x":1}}`
	offerJSON = `{"id":"o/1?x %2F","available":true,"verified":true,"country":"NL","region":"Amsterdam",
		"gpu":{"slug":"h100","name":"H100","count":8,"vram_gb":80,"total_tflops":1979.5,"mem_bw_gbs":3350},
		"cpu":{"name":"EPYC","cores":96},"ram_gb":1024,"disk":{"max_gb":4000,"bw_mbps":7000,"name":null},
		"network":{"up_mbps":1000,"down_mbps":2000,"ports":64},"pcie":{"gen":5,"bw_gbs":53.5},"cuda_max":12.8,
		"driver":"570.1","reliability":0.995,"max_duration_days":90,"dlperf":812.5,
		"price":{"on_demand_kop_h":180000,"interruptible_kop_h":90000,"storage_kop_gb_month":900,"traffic_kop_gb":75}}`
	templateJSON = `{"slug":"my-t","name":"Mine","description":"d","image":"i:1","launch_mode":"jupyter","ports":[8888,22],
		"env":{"A":"b"},"onstart":"run","min_disk_gb":20,"recommended_disk_gb":40,"public":false,"owner":"me"}`
	sshKeyJSON = `{"id":"k1","name":"laptop","type":"ssh-ed25519","fingerprint":"SHA256:abc",` +
		`"created_at":"2026-01-02T03:04:05Z"}`
	apiKeyHead = `{"id":"a1","name":"ci","prefix":"gpr_AbCd","scopes":["user:read","future:scope"],"source":"api",
		"last_used_at":null,"created_at":"2026-01-02T03:04:05Z","expires_at":"2027-01-02T03:04:05Z"`
)

func onePage(item string) string { return `{"data":[` + item + `],"next_cursor":null}` }

// operation is a client method with its request and response in the API document.
type operation struct {
	id       string
	do       func(context.Context, *Client) (any, error)
	method   string
	target   string // escaped path and query below the base URL
	public   bool   // without API key
	body     string
	key      string // Idempotency-Key
	status   int
	response string
	want     any
}

func operations(t *testing.T) []operation {
	at := parseTime(t, "2026-01-02T03:04:05Z")
	user := User{ID: "u1", Email: new("a@example.com"), Name: "Anna", CreatedAt: at, TwoFactor: new(true),
		EmailVerified: new(true), TelegramLinked: new(false)}
	instance := Instance{
		ID: "i/1", Name: new("train"), Status: StatusRunning, DesiredState: DesiredRunning, Type: OnDemand,
		GPU:      InstanceGPU{Slug: "rtx-4090", Name: "RTX 4090", Count: 2, VRAMGB: new(int64(24))},
		Template: TemplateRef{Slug: "cuda", Name: "CUDA"}, Image: "cuda:12", DiskGB: 50, Country: new("DE"),
		Price:        InstancePrice{RunningKopH: 9000, StoppedKopH: 150, TrafficKopGB: 80},
		CostSoFarKop: 12345, SSH: &SSH{Host: "h.example", Port: 2222, User: "root", Command: "ssh -p 2222 root@h.example"},
		URLs:      []InstanceURL{{Label: "Jupyter", URL: new("https://j.example")}, {Label: "Board"}},
		CreatedAt: at, StartedAt: new(at.Add(time.Minute)),
	}
	offer := Offer{
		ID: "o/1?x %2F", Available: true, Verified: true, Country: new("NL"), Region: new("Amsterdam"),
		GPU: OfferGPU{Slug: "h100", Name: "H100", Count: 8, VRAMGB: 80, TotalTFLOPS: new(1979.5), MemBWGBs: new(int64(3350))},
		CPU: OfferCPU{Name: new("EPYC"), Cores: new(int64(96))}, RAMGB: new(int64(1024)),
		Disk:    OfferDisk{MaxGB: new(int64(4000)), BWMBps: new(int64(7000))},
		Network: OfferNetwork{UpMbps: new(int64(1000)), DownMbps: new(int64(2000)), Ports: new(int64(64))},
		PCIe:    OfferPCIe{Gen: new(int64(5)), BWGBs: new(53.5)}, CUDAMax: new(12.8), Driver: new("570.1"),
		Reliability:     new(0.995),
		MaxDurationDays: new(int64(90)), DLPerf: new(812.5),
		Price: OfferPrice{OnDemandKopH: 180000, InterruptibleKopH: new(int64(90000)), StorageKopGBMonth: 900,
			TrafficKopGB: 75},
	}
	template := Template{
		Slug: "my-t", Name: "Mine", Description: "d", Image: "i:1", LaunchMode: LaunchJupyter, Ports: []int64{8888, 22},
		Env: map[string]string{"A": "b"}, OnStart: new("run"), MinDiskGB: 20, RecommendedDiskGB: 40, Owner: OwnerMe,
	}
	sshKey := SSHKey{ID: "k1", Name: "laptop", Type: "ssh-ed25519", Fingerprint: "SHA256:abc", CreatedAt: at}
	apiKey := APIKey{
		ID: "a1", Name: "ci", Prefix: "gpr_AbCd", Scopes: []string{ScopeUserRead, "future:scope"}, Source: "api",
		CreatedAt: at, ExpiresAt: new(at.AddDate(1, 0, 0)),
	}
	return []operation{
		{id: "getMe", method: "GET", target: "/me", status: 200, response: userJSON, want: user,
			do: func(ctx context.Context, c *Client) (any, error) { return c.GetMe(ctx) }},
		{id: "getBalance", method: "GET", target: "/balance", status: 200,
			response: `{"balance_kop":-5,"available_kop":-9,"credit_limit_kop":100,"burn_kop_h":7,"runway_hours":1.5,` +
				`"currency":"RUB"}`,
			want: Balance{BalanceKop: -5, AvailableKop: -9, CreditLimitKop: 100, BurnKopH: 7, RunwayHours: new(1.5),
				Currency: "RUB"},
			do: func(ctx context.Context, c *Client) (any, error) { return c.GetBalance(ctx) }},
		{id: "listTransactions", method: "GET", target: "/transactions?limit=200", status: 200,
			response: onePage(`{"id":"t1","at":"2026-01-02T03:04:05Z","type":"usage","amount_kop":-77,"description":"GPU",` +
				`"instance_id":"i/1"}`),
			want: []Transaction{{ID: "t1", At: at, Type: "usage", AmountKop: -77, Description: "GPU",
				InstanceID: new("i/1")}},
			do: func(ctx context.Context, c *Client) (any, error) {
				return collect(c.ListTransactions(ctx, ListOptions{}))
			}},
		{id: "listGpus", method: "GET", target: "/gpus?limit=200", public: true, status: 200,
			response: onePage(`{"slug":"h100","name":"H100","vram_gb":80,"tier":"quantum","available_gpus":3,` +
				`"from_kop_h":22000,"from_interruptible_kop_h":null}`),
			want: []GPUModel{{Slug: "h100", Name: "H100", VRAMGB: 80, Tier: "quantum", AvailableGPUs: 3,
				FromKopH: new(int64(22000))}},
			do: func(ctx context.Context, c *Client) (any, error) { return collect(c.ListGPUs(ctx, ListOptions{})) }},
		{id: "listOffers", method: "GET", public: true, status: 200, response: onePage(offerJSON), want: []Offer{offer},
			target: "/offers?country=DE%2CNL&gpu=h100%2Ca100&limit=200&max_price_kop_h=0&min_cuda=12.4&min_disk_gb=100" +
				"&min_gpus=2&min_inet_down_mbps=500.5&min_reliability=0.9&min_vram_gb=0&num_gpus=4%2C8&order=-price" +
				"&type=interruptible&verified=false",
			do: func(ctx context.Context, c *Client) (any, error) {
				return collect(c.ListOffers(ctx, OfferQuery{
					GPU: []string{"h100", "a100"}, NumGPUs: []int64{4, 8}, MinGPUs: new(int64(2)), Type: Interruptible,
					Country:        []string{"DE", "NL"},
					MinReliability: new(0.9), MinVRAMGB: new(0.0), MaxPriceKopH: new(int64(0)), Verified: new(false),
					MinCUDA:   new(12.4),
					MinDiskGB: new(100.0), MinInetDownMbps: new(500.5), Order: "-price",
				}))
			}},
		{id: "getOffer", method: "GET", target: "/offers/o%2F1%3Fx%20%252F", public: true, status: 200, response: offerJSON,
			want: offer,
			do:   func(ctx context.Context, c *Client) (any, error) { return c.GetOffer(ctx, "o/1?x %2F") }},
		{id: "listTemplates", method: "GET", target: "/templates?limit=200", status: 200, response: onePage(templateJSON),
			want: []Template{template},
			do:   func(ctx context.Context, c *Client) (any, error) { return collect(c.ListTemplates(ctx, ListOptions{})) }},
		{id: "createTemplate", method: "POST", target: "/templates", status: 201, response: templateJSON, want: template,
			body: `{"name":"Mine","image":"i:1","description":"d","launch_mode":"jupyter","ports":[8888],"env":{"A":"b"},` +
				`"onstart":"run","min_disk_gb":20,"recommended_disk_gb":40}`,
			do: func(ctx context.Context, c *Client) (any, error) {
				return c.CreateTemplate(ctx, TemplateCreate{Name: "Mine", Image: "i:1", Description: "d",
					LaunchMode: LaunchJupyter, Ports: []int64{8888},
					Env: map[string]string{"A": "b"}, OnStart: "run", MinDiskGB: 20, RecommendedDiskGB: 40})
			}},
		{id: "deleteTemplate", method: "DELETE", target: "/templates/my-t", status: 204,
			do: func(ctx context.Context, c *Client) (any, error) { return nil, c.DeleteTemplate(ctx, "my-t") }},
		{id: "listSshKeys", method: "GET", target: "/ssh-keys?limit=200", status: 200, response: onePage(sshKeyJSON),
			want: []SSHKey{sshKey},
			do:   func(ctx context.Context, c *Client) (any, error) { return collect(c.ListSSHKeys(ctx, ListOptions{})) }},
		{id: "createSshKey", method: "POST", target: "/ssh-keys", status: 201, response: sshKeyJSON, want: sshKey,
			body: `{"name":"laptop","public_key":"ssh-ed25519 AAAA me"}`,
			do: func(ctx context.Context, c *Client) (any, error) {
				return c.CreateSSHKey(ctx, SSHKeyCreate{Name: "laptop", PublicKey: "ssh-ed25519 AAAA me"})
			}},
		{id: "deleteSshKey", method: "DELETE", target: "/ssh-keys/k1", status: 204,
			do: func(ctx context.Context, c *Client) (any, error) { return nil, c.DeleteSSHKey(ctx, "k1") }},
		{id: "listInstances", method: "GET", target: "/instances?limit=200&status=all", status: 200,
			response: onePage(instanceJSON), want: []Instance{instance},
			do: func(ctx context.Context, c *Client) (any, error) {
				return collect(c.ListInstances(ctx, ListInstancesQuery{Status: ListAll}))
			}},
		{id: "createInstance", method: "POST", target: "/instances", status: 201, response: instanceJSON,
			want: instance, key: "idem-1",
			body: `{"offer_id":"o1","template":"cuda","disk_gb":50,"name":"train","ssh_key_ids":["k1"],"type":"on_demand",` +
				`"image":"cuda:12"}`,
			do: func(ctx context.Context, c *Client) (any, error) {
				created, _, err := c.CreateInstance(ctx, "idem-1", InstanceCreate{OfferID: "o1", Template: "cuda", DiskGB: 50,
					Name:      "train",
					SSHKeyIDs: []string{"k1"}, Type: OnDemand, Image: "cuda:12"})
				return created, err
			}},
		{id: "getInstance", method: "GET", target: "/instances/i%2F1", status: 200, response: instanceJSON, want: instance,
			do: func(ctx context.Context, c *Client) (any, error) { return c.GetInstance(ctx, "i/1") }},
		{id: "updateInstance", method: "PATCH", target: "/instances/i%2F1", status: 200, response: instanceJSON,
			want: instance, body: `{"name":"train"}`,
			do: func(ctx context.Context, c *Client) (any, error) {
				return c.UpdateInstance(ctx, "i/1", InstanceUpdate{Name: new("train")})
			}},
		{id: "startInstance", method: "POST", target: "/instances/i%2F1/start", status: 200, response: instanceJSON,
			want: instance,
			do:   func(ctx context.Context, c *Client) (any, error) { return c.StartInstance(ctx, "i/1") }},
		{id: "stopInstance", method: "POST", target: "/instances/i%2F1/stop", status: 200, response: instanceJSON,
			want: instance,
			do:   func(ctx context.Context, c *Client) (any, error) { return c.StopInstance(ctx, "i/1") }},
		{id: "deleteInstance", method: "DELETE", target: "/instances/i%2F1", status: 200, response: instanceJSON,
			want: instance,
			do:   func(ctx context.Context, c *Client) (any, error) { return c.DeleteInstance(ctx, "i/1") }},
		{id: "getInstanceLogs", method: "GET", target: "/instances/i1/logs?tail=7", status: 200,
			response: `{"lines":["a","b"]}`, want: []string{"a", "b"},
			do: func(ctx context.Context, c *Client) (any, error) { return c.GetInstanceLogs(ctx, "i1", 7) }},
		{id: "listApiKeys", method: "GET", target: "/api-keys?limit=200", status: 200, response: onePage(apiKeyHead + `}`),
			want: []APIKey{apiKey},
			do:   func(ctx context.Context, c *Client) (any, error) { return collect(c.ListAPIKeys(ctx, ListOptions{})) }},
		{id: "createApiKey", method: "POST", target: "/api-keys", status: 201, response: apiKeyHead + `,"secret":"gpr_S"}`,
			want: APIKeyCreated{APIKey: apiKey, Secret: "gpr_S"},
			body: `{"name":"ci","scopes":["user:read"],"expires_in_days":365}`,
			do: func(ctx context.Context, c *Client) (any, error) {
				return c.CreateAPIKey(ctx, APIKeyCreate{Name: "ci", Scopes: []string{ScopeUserRead},
					ExpiresInDays: new(int64(365))})
			}},
		{id: "deleteApiKey", method: "DELETE", target: "/api-keys/a1", status: 204,
			do: func(ctx context.Context, c *Client) (any, error) { return nil, c.DeleteAPIKey(ctx, "a1") }},
		{id: "createDeviceCode", method: "POST", target: "/auth/device", public: true, status: 200,
			body: `{"client_name":"laptop"}`,
			response: `{"device_code":"d","user_code":"AB-CD","verification_uri":"https://v",` +
				`"verification_uri_complete":"https://v?c","expires_in":600,"interval":5}`,
			want: DeviceCode{DeviceCode: "d", UserCode: "AB-CD", VerificationURI: "https://v", ExpiresIn: 600,
				Interval: 5},
			do: func(ctx context.Context, c *Client) (any, error) { return c.CreateDeviceCode(ctx, "laptop") }},
		{id: "createDeviceToken", method: "POST", target: "/auth/device/token", public: true, status: 200,
			body:     `{"device_code":"d"}`,
			response: `{"api_key":"gpr_K","key_id":"a1","user":{"email":"a@example.com"}}`,
			want: DeviceToken{APIKey: "gpr_K", KeyID: "a1", User: struct {
				Email string `json:"email"`
			}{"a@example.com"}},
			do: func(ctx context.Context, c *Client) (any, error) { return c.CreateDeviceToken(ctx, "d") }},
	}
}

func TestOperations(t *testing.T) {
	for _, op := range operations(t) {
		t.Run(op.id, func(t *testing.T) {
			client := newServerClient(t, func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					t.Error(err)
				}
				got := map[string]string{
					"method": r.Method, "target": r.RequestURI, "body": string(body), "key": r.Header.Get("Idempotency-Key"),
					"authorization": r.Header.Get("Authorization"), "language": r.Header.Get("Accept-Language"),
					"agent": r.Header.Get("User-Agent"), "type": r.Header.Get("Content-Type"), "accept": r.Header.Get("Accept"),
					"cache": r.Header.Get("Cache-Control"),
				}
				want := map[string]string{
					"method": op.method, "target": "/api/v1" + op.target, "body": op.body, "key": op.key,
					"authorization": "Bearer " + canary, "language": "en", "agent": "test/1", "type": "", "accept": "application/json",
					"cache": "no-cache",
				}
				if op.public {
					want["authorization"], want["cache"] = "", ""
				}
				if op.body != "" {
					want["type"] = "application/json"
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("request (-want +got):\n%s", diff)
				}
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(op.status)
				if _, err := io.WriteString(w, op.response); err != nil && op.status != http.StatusNoContent {
					t.Error(err)
				}
			})
			got, err := op.do(t.Context(), client)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(op.want, got); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
		})
	}
}

// Zero values are not sent, except where null or an empty list has a meaning.
func TestRequestBodies(t *testing.T) {
	tests := []struct {
		name   string
		status int
		do     func(context.Context, *Client) error
		want   string
	}{
		{"minimal instance", 201, func(ctx context.Context, c *Client) error {
			_, _, err := c.CreateInstance(ctx, "k", InstanceCreate{OfferID: "o", Template: "t", DiskGB: 10})
			return err
		}, `{"offer_id":"o","template":"t","disk_gb":10}`},
		{"instance without SSH keys", 201, func(ctx context.Context, c *Client) error {
			_, _, err := c.CreateInstance(ctx, "k", InstanceCreate{OfferID: "o", Template: "t", DiskGB: 10,
				SSHKeyIDs: []string{}})
			return err
		}, `{"offer_id":"o","template":"t","disk_gb":10,"ssh_key_ids":[]}`},
		{"removed name", 200, func(ctx context.Context, c *Client) error {
			_, err := c.UpdateInstance(ctx, "x", InstanceUpdate{})
			return err
		}, `{"name":null}`},
		{"minimal template", 201, func(ctx context.Context, c *Client) error {
			_, err := c.CreateTemplate(ctx, TemplateCreate{Name: "n", Image: "i:1"})
			return err
		}, `{"name":"n","image":"i:1"}`},
		{"SSH key without name", 201, func(ctx context.Context, c *Client) error {
			_, err := c.CreateSSHKey(ctx, SSHKeyCreate{PublicKey: "p"})
			return err
		}, `{"public_key":"p"}`},
		{"API key that never expires", 201, func(ctx context.Context, c *Client) error {
			_, err := c.CreateAPIKey(ctx, APIKeyCreate{Name: "n", Scopes: []string{ScopeUserRead}})
			return err
		}, `{"name":"n","scopes":["user:read"]}`},
		{"login without client name", 200, func(ctx context.Context, c *Client) error {
			_, err := c.CreateDeviceCode(ctx, "")
			return err
		}, `{}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			client, s := scriptedClient(t, reply{status: test.status,
				body: `{"id":"x","slug":"x","secret":"x","device_code":"x"}`})
			var got string
			s.onRequest = func(req *http.Request) {
				body, err := io.ReadAll(req.Body)
				if err != nil {
					t.Error(err)
				}
				got = string(body)
			}
			if err := test.do(t.Context(), client); err != nil {
				t.Fatal(err)
			}
			if got != test.want {
				t.Errorf("sent %s, want %s", got, test.want)
			}
		})
	}
}

func TestCreateInstance_Replayed(t *testing.T) {
	for _, test := range []struct {
		reply reply
		want  bool
	}{
		{reply{status: 201, body: `{"id":"i"}`}, false},
		{reply{status: 200, body: `{"id":"i"}`}, true},
		{reply{status: 200, body: `{"id":"i"}`, header: "Idempotent-Replayed: true"}, true},
	} {
		client, _ := scriptedClient(t, test.reply)
		_, replay, err := client.CreateInstance(t.Context(), "k", InstanceCreate{})
		if err != nil || (replay == Replayed) != test.want {
			t.Errorf("%+v: replay %d (%v), want %t", test.reply, replay, err, test.want)
		}
	}
}

func TestInvalidInput_SendsNothing(t *testing.T) {
	tests := map[string]func(context.Context, *Client) error{
		"empty id":    func(ctx context.Context, c *Client) error { _, err := c.GetInstance(ctx, ""); return err },
		"dot id":      func(ctx context.Context, c *Client) error { _, err := c.GetOffer(ctx, "."); return err },
		"two-dots id": func(ctx context.Context, c *Client) error { return c.DeleteSSHKey(ctx, "..") },
		"cancelled context": func(ctx context.Context, c *Client) error {
			ctx, cancel := context.WithCancel(ctx)
			cancel()
			_, err := c.GetMe(ctx)
			return err
		},
	}
	for name, do := range tests {
		t.Run(name, func(t *testing.T) {
			client, s := scriptedClient(t, reply{status: 200, body: `{"id":"x"}`})
			err := do(t.Context(), client)
			if err == nil || s.attempts() != 0 {
				t.Errorf("error %v after %d requests, want an error and none", err, s.attempts())
			}
			if IsOutcomeUnknown(err) || IsUnavailable(err) {
				t.Errorf("IsOutcomeUnknown or IsUnavailable: %v", err)
			}
		})
	}
}

func TestWithoutKey(t *testing.T) {
	noKey := func(c *Config) { c.APIKey = "" }
	for _, op := range operations(t) {
		t.Run(op.id, func(t *testing.T) {
			s := &scriptedTransport{replies: []reply{{status: op.status, body: op.response}},
				onRequest: func(req *http.Request) {
					if auth, ok := req.Header["Authorization"]; ok {
						t.Errorf("sent Authorization %q", auth)
					}
				}}
			client := newTestClient(t, testURL, noKey, func(c *Config) { c.Transport = s })
			_, err := op.do(t.Context(), client)
			if allowed := op.public || op.id == "listTemplates"; allowed != (err == nil) || !allowed && !IsUnauthorized(err) {
				t.Errorf("got %v", err)
			}
			if client.Authenticated() {
				t.Error("Authenticated is true")
			}
		})
	}
}

func TestInvalidResponses(t *testing.T) {
	create := func(ctx context.Context, c *Client) error {
		_, _, err := c.CreateInstance(ctx, "k", InstanceCreate{})
		return err
	}
	get := func(ctx context.Context, c *Client) error { _, err := c.GetInstance(ctx, "i"); return err }
	retried := 1 + maxForeignRetries
	tests := []struct {
		name     string
		reply    reply
		do       func(context.Context, *Client) error
		unknown  bool
		attempts int
	}{
		{"empty", reply{status: 201}, create, true, retried},
		{"HTML for a read", reply{status: 200, body: `<html>welcome</html>`}, get, false, retried},
		{"undocumented status", reply{status: 202, body: `{"id":"i"}`}, create, true, retried},
		{"status of another operation", reply{status: 201, body: `{"id":"i"}`}, get, false, retried},
		{"no id", reply{status: 201, body: `{"status":"creating"}`}, create, true, 1},
		{"incomplete", reply{status: 201, body: `{"id":"i`}, create, true, 1},
		{"token without key", reply{status: 200, body: `{"key_id":"a"}`}, func(ctx context.Context, c *Client) error {
			_, err := c.CreateDeviceToken(ctx, "d")
			return err
		}, true, 1},
		{"template with status 200", reply{status: 200, body: templateJSON}, func(ctx context.Context, c *Client) error {
			_, err := c.CreateTemplate(ctx, TemplateCreate{})
			return err
		}, true, 1},
		{"deletion with an object", reply{status: 200, body: `{}`}, func(ctx context.Context, c *Client) error {
			return c.DeleteTemplate(ctx, "k")
		}, false, retried},
		{"revocation with an object", reply{status: 202, body: `{}`}, func(ctx context.Context, c *Client) error {
			return c.DeleteAPIKey(ctx, "k")
		}, false, retried},
		{"instance deletion without a body", reply{status: 204}, func(ctx context.Context, c *Client) error {
			_, err := c.DeleteInstance(ctx, "i")
			return err
		}, false, retried},
		{"read of an empty object", reply{status: 200, body: `{}`}, get, false, 1},
		{"list without data", reply{status: 200, body: `{}`}, func(ctx context.Context, c *Client) error {
			_, err := collect(c.ListSSHKeys(ctx, ListOptions{}))
			return err
		}, false, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			client, s := scriptedClient(t, test.reply)
			err := test.do(t.Context(), client)
			if e := asError(t, err); e.Status != test.reply.status || e.Message == "" || IsNotFound(err) {
				t.Errorf("got %+v, want status %d and a message", e, test.reply.status)
			}
			if IsOutcomeUnknown(err) != test.unknown || s.attempts() != test.attempts {
				t.Errorf("outcome unknown %t after %d attempts, want %t after %d", IsOutcomeUnknown(err), s.attempts(),
					test.unknown, test.attempts)
			}
		})
	}
}

// Missing optional fields and unknown values are not an error.
func TestGetInstance_OptionalFields(t *testing.T) {
	client, _ := scriptedClient(t, reply{status: 200,
		body: `{"id":"i","status":"hibernating","type":"spot","gpu":{},"price":{},"ssh":null}`})
	got, err := client.GetInstance(t.Context(), "i")
	want := Instance{ID: "i", Status: "hibernating", Type: "spot", Omitted: InstanceOmitted{Name: true,
		StopReason: true, URLs: true, CostSoFar: true}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}
