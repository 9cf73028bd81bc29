package rental

import (
	"context"
	"encoding/json"
	"io"
	"iter"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpurent/terraform-provider-gpurent/internal/contract/apidoc"
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
	publicKey  = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKJLu/BJj6IuH3Ssli37zXUHMHdBfD153tGyfACAryQ8 me"
	sshKeyJSON = `{"id":"k1","name":"laptop","type":"ssh-ed25519","fingerprint":"SHA256:abc",` +
		`"created_at":"2026-01-02T03:04:05Z"}`
	apiKeyHead = `{"id":"a1","name":"ci","prefix":"gpr_AbCd","scopes":["user:read","future:scope"],"source":"api",
		"last_used_at":null,"created_at":"2026-01-02T03:04:05Z","expires_at":"2027-01-02T03:04:05Z"`
)

func onePage(item string) string { return `{"data":[` + item + `],"next_cursor":null}` }

// operation is a client method with its request and response in the API document.
type operation struct {
	id       string // in the contract
	do       action
	object   string // the id for do; empty if do needs none
	target   string // escaped path and query below the base URL
	body     string
	key      string // Idempotency-Key
	response string
	want     any

	doc    apidoc.Operation // method, scope and bodies
	status int              // of a success
	result string           // schema of a success, "" without a body
}

// call performs the operation with the object of the responses.
func (op operation) call(ctx context.Context, c *Client) (any, error) {
	return op.do(ctx, c, op.object)
}

func (op operation) reply() reply { return reply{status: op.status, body: op.response} }

// action performs an operation with the object that has an id, or without one.
type action = func(ctx context.Context, c *Client, id string) (any, error)

func get[T any](method func(*Client, context.Context) (T, error)) action {
	return func(ctx context.Context, c *Client, _ string) (any, error) { return method(c, ctx) }
}

func listAll[T any](method func(*Client, context.Context, ListOptions) iter.Seq2[T, error]) action {
	return func(ctx context.Context, c *Client, _ string) (any, error) {
		return collect(method(c, ctx, ListOptions{}))
	}
}

func byID[T any](method func(*Client, context.Context, string) (T, error)) action {
	return func(ctx context.Context, c *Client, id string) (any, error) { return method(c, ctx, id) }
}

func remove(method func(*Client, context.Context, string) error) action {
	return func(ctx context.Context, c *Client, id string) (any, error) { return nil, method(c, ctx, id) }
}

// create calls a method with a body.
func create[B, T any](method func(*Client, context.Context, B) (T, error), body B) action {
	return func(ctx context.Context, c *Client, _ string) (any, error) { return method(c, ctx, body) }
}

// operations returns all operations.
func operations() []operation {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
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
		Reliability: new(0.995), MaxDurationDays: new(int64(90)), DLPerf: new(812.5),
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
	all := []operation{
		{id: "getMe", target: "/me", response: userJSON, want: user, do: get((*Client).GetMe)},
		{id: "getBalance", target: "/balance", do: get((*Client).GetBalance),
			response: `{"balance_kop":-5,"available_kop":-9,"credit_limit_kop":100,"burn_kop_h":7,"runway_hours":1.5,` +
				`"currency":"RUB"}`,
			want: Balance{BalanceKop: -5, AvailableKop: -9, CreditLimitKop: 100, BurnKopH: 7, RunwayHours: new(1.5),
				Currency: "RUB"}},
		{id: "listTransactions", target: "/transactions?limit=200", do: listAll((*Client).ListTransactions),
			response: onePage(`{"id":"t1","at":"2026-01-02T03:04:05Z","type":"usage","amount_kop":-77,"description":"GPU",` +
				`"instance_id":"i/1"}`),
			want: []Transaction{{ID: "t1", At: at, Type: "usage", AmountKop: -77, Description: "GPU",
				InstanceID: new("i/1")}}},
		{id: "listGpus", target: "/gpus?limit=200", do: listAll((*Client).ListGPUs),
			response: onePage(`{"slug":"h100","name":"H100","vram_gb":80,"tier":"quantum","available_gpus":3,` +
				`"from_kop_h":22000,"from_interruptible_kop_h":null}`),
			want: []GPUModel{{Slug: "h100", Name: "H100", VRAMGB: 80, Tier: "quantum", AvailableGPUs: 3,
				FromKopH: new(int64(22000))}}},
		{id: "listOffers", target: "/offers?limit=200&order=price",
			response: onePage(offerJSON), want: []Offer{offer},
			do: func(ctx context.Context, c *Client, _ string) (any, error) {
				return collect(c.ListOffers(ctx, OfferQuery{Order: "price"}))
			}},
		{id: "getOffer", object: "o/1?x %2F", target: "/offers/o%2F1%3Fx%20%252F", do: byID((*Client).GetOffer),
			response: offerJSON, want: offer},
		{id: "createTemplate", target: "/templates", response: templateJSON, want: template,
			body: `{"name":"Mine","image":"i:1","description":"d","launch_mode":"jupyter","ports":[8888],"env":{"A":"b"},` +
				`"onstart":"run","min_disk_gb":20,"recommended_disk_gb":40}`,
			do: create((*Client).CreateTemplate, TemplateCreate{Name: "Mine", Image: "i:1", Description: "d",
				LaunchMode: LaunchJupyter, Ports: []int64{8888}, Env: map[string]string{"A": "b"}, OnStart: "run",
				MinDiskGB: 20, RecommendedDiskGB: 40})},
		{id: "listTemplates", target: "/templates?limit=200", do: listAll((*Client).ListTemplates),
			response: onePage(templateJSON), want: []Template{template}},
		{id: "deleteTemplate", object: "my-t", target: "/templates/my-t", do: remove((*Client).DeleteTemplate)},
		{id: "createSshKey", target: "/ssh-keys", response: sshKeyJSON, want: sshKey,
			body: `{"name":"laptop","public_key":"` + publicKey + `"}`,
			do:   create((*Client).CreateSSHKey, SSHKeyCreate{Name: "laptop", PublicKey: publicKey})},
		{id: "listSshKeys", target: "/ssh-keys?limit=200", do: listAll((*Client).ListSSHKeys),
			response: onePage(sshKeyJSON), want: []SSHKey{sshKey}},
		{id: "deleteSshKey", object: "k1", target: "/ssh-keys/k1", do: remove((*Client).DeleteSSHKey)},
		{id: "createInstance", target: "/instances",
			response: instanceJSON, want: instance, key: "idem-1",
			body: `{"offer_id":"o/1?x %2F","template":"custom","disk_gb":50,"name":"train","ssh_key_ids":[],` +
				`"type":"on_demand","image":"cuda:12"}`,
			do: func(ctx context.Context, c *Client, _ string) (any, error) {
				created, _, err := c.CreateInstance(ctx, "idem-1", InstanceCreate{OfferID: offer.ID, Template: "custom",
					DiskGB: 50, Name: "train", SSHKeyIDs: []string{}, Type: OnDemand, Image: "cuda:12"})
				return created, err
			}},
		{id: "listInstances", target: "/instances?limit=200&status=all",
			response: onePage(instanceJSON), want: []Instance{instance},
			do: func(ctx context.Context, c *Client, _ string) (any, error) {
				return collect(c.ListInstances(ctx, ListInstancesQuery{Status: ListAll}))
			}},
		{id: "getInstance", object: "i/1", target: "/instances/i%2F1", do: byID((*Client).GetInstance),
			response: instanceJSON, want: instance},
		{id: "getInstanceLogs", object: "i/1", target: "/instances/i%2F1/logs?tail=7",
			response: `{"lines":["a","b"]}`, want: []string{"a", "b"},
			do: func(ctx context.Context, c *Client, id string) (any, error) { return c.GetInstanceLogs(ctx, id, 7) }},
		{id: "updateInstance", object: "i/1", target: "/instances/i%2F1",
			response: instanceJSON, want: instance, body: `{"name":"train"}`,
			do: func(ctx context.Context, c *Client, id string) (any, error) {
				return c.UpdateInstance(ctx, id, InstanceUpdate{Name: new("train")})
			}},
		{id: "stopInstance", object: "i/1", target: "/instances/i%2F1/stop", do: byID((*Client).StopInstance),
			response: instanceJSON, want: instance},
		{id: "startInstance", object: "i/1", target: "/instances/i%2F1/start", do: byID((*Client).StartInstance),
			response: instanceJSON, want: instance},
		{id: "deleteInstance", object: "i/1", target: "/instances/i%2F1", do: byID((*Client).DeleteInstance),
			response: instanceJSON, want: instance},
		{id: "createApiKey", target: "/api-keys", response: apiKeyHead + `,"secret":"gpr_S"}`,
			want: APIKeyCreated{APIKey: apiKey, Secret: "gpr_S"},
			body: `{"name":"ci","scopes":["user:read"],"expires_in_days":365}`,
			do: create((*Client).CreateAPIKey, APIKeyCreate{Name: "ci", Scopes: []string{ScopeUserRead},
				ExpiresInDays: new(int64(365))})},
		{id: "listApiKeys", target: "/api-keys?limit=200", do: listAll((*Client).ListAPIKeys),
			response: onePage(apiKeyHead + `}`), want: []APIKey{apiKey}},
		{id: "deleteApiKey", object: "a1", target: "/api-keys/a1", do: remove((*Client).DeleteAPIKey)},
		{id: "createDeviceCode", target: "/auth/device", do: create((*Client).CreateDeviceCode, "laptop"),
			body: `{"client_name":"laptop"}`,
			response: `{"device_code":"d","user_code":"AB-CD","verification_uri":"https://v",` +
				`"verification_uri_complete":"https://v?c","expires_in":600,"interval":5}`,
			want: DeviceCode{DeviceCode: "d", UserCode: "AB-CD", VerificationURI: "https://v", ExpiresIn: 600,
				Interval: 5}},
		{id: "createDeviceToken", object: "d", target: "/auth/device/token", body: `{"device_code":"d"}`,
			response: `{"api_key":"gpr_K","key_id":"a1","user":{"email":"a@example.com"}}`,
			want: DeviceToken{APIKey: "gpr_K", KeyID: "a1", User: struct {
				Email string `json:"email"`
			}{"a@example.com"}},
			do: byID((*Client).CreateDeviceToken)},
	}
	docs := map[string]apidoc.Operation{}
	for _, doc := range apidoc.Operations {
		docs[doc.ID] = doc
	}
	for i := range all {
		op := &all[i]
		op.doc = docs[op.id]
		switch {
		case op.doc.Created != "":
			op.status, op.result = http.StatusCreated, op.doc.Created
		case op.doc.Response == "":
			op.status = http.StatusNoContent
		default:
			op.status, op.result = http.StatusOK, op.doc.Response
		}
	}
	return all
}

// perform performs the operation with an id in the contract.
func perform(t *testing.T, c *Client, id string) error {
	t.Helper()
	all := operations()
	_, err := all[slices.IndexFunc(all, func(op operation) bool { return op.id == id })].call(t.Context(), c)
	return err
}

func TestOperations(t *testing.T) {
	missing := slices.Clone(apidoc.Operations)
	for _, op := range operations() {
		missing = slices.DeleteFunc(missing, func(o apidoc.Operation) bool { return o.ID == op.id })
		t.Run(op.id, func(t *testing.T) {
			client := newTestClient(t, &script{answer: func(r *http.Request, _ int) reply {
				var body []byte
				if r.Body != nil {
					body, _ = io.ReadAll(r.Body) //nolint:errcheck // in memory
				}
				got := map[string]string{"method": r.Method, "target": r.URL.RequestURI(), "body": string(body)}
				for name := range r.Header {
					got[name] = r.Header.Get(name)
				}
				want := map[string]string{
					"method": op.doc.Method, "target": versionSuffix + op.target, "body": op.body,
					"Accept": "application/json", "Accept-Language": "en", "User-Agent": "test/1",
				}
				if op.doc.Scope != "public" {
					want["Authorization"], want["Cache-Control"] = "Bearer "+canary, "no-cache"
				}
				if op.body != "" {
					want["Content-Type"] = "application/json"
				}
				if op.key != "" {
					want["Idempotency-Key"] = op.key
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("request (-want +got):\n%s", diff)
				}
				return op.reply()
			}})
			got, err := op.call(t.Context(), client)
			if diff := cmp.Diff(op.want, got); err != nil || diff != "" {
				t.Errorf("%v, result (-want +got):\n%s", err, diff)
			}
		})
	}
	if len(missing) > 0 {
		t.Errorf("operations of the contract that are not in operations(): %v", missing)
	}
}

// ignored are the fields of the contract that the client does not have.
var ignored = []string{"InstanceCreate.env", "InstanceCreate.onstart", "DeviceCode.verification_uri_complete"}

// The bodies and the results of the operations have all fields of the contract.
func TestOperations_AllFields(t *testing.T) {
	for _, op := range operations() {
		check := func(table string, object []byte) {
			var fields map[string]any
			if err := json.Unmarshal(object, &fields); err != nil {
				t.Fatal(op.id, err)
			}
			for _, field := range apidoc.Fields(table) {
				name := table + "." + field.Name
				if _, found := fields[field.Name]; !found && !slices.Contains(ignored, name) {
					t.Errorf("%s: the client lacks %s", op.id, name)
				}
			}
		}
		if op.body != "" {
			check(op.doc.Body, []byte(op.body))
		}
		table := op.result
		if table == "" || op.id == "getInstanceLogs" { // its result is the list of lines
			continue
		}
		result, err := json.Marshal(op.want)
		if err != nil {
			t.Fatal(err)
		}
		if list, found := strings.CutPrefix(apidoc.Fields(table)[0].Type, "array of "); found {
			var items []json.RawMessage
			if err := json.Unmarshal(result, &items); err != nil {
				t.Fatal(op.id, err)
			}
			table, result = list, items[0]
		}
		check(table, result)
	}
}

// Errors contain the scope of the operation in the contract.
func TestError_Scope(t *testing.T) {
	for _, op := range operations() {
		want := op.doc.Scope
		if want == "public" || want == "optional" {
			want = ""
		}
		for _, response := range []reply{failed(CodeForbidden), ok("no JSON")} {
			client, _ := scriptedClient(t, response)
			_, err := op.call(t.Context(), client)
			if ignored := err == nil && op.response == ""; !ignored && asError(t, err).Scope != want {
				t.Errorf("%s: scope %q in the error, %q in the contract: %v", op.id, asError(t, err).Scope, want, err)
			}
		}
	}
}

// A created object without an id is an error, and an entry of a list without an id is skipped.
func TestResponse_WithoutID(t *testing.T) {
	withoutID := map[string]bool{"listTransactions": true, "listGpus": true}
	for _, op := range operations() {
		body := "{}"
		switch {
		case strings.HasPrefix(op.id, "list"):
			body = onePage("{}")
		case op.status != http.StatusCreated:
			continue
		}
		client, _ := scriptedClient(t, reply{status: op.status, body: body})
		got, err := op.call(t.Context(), client)
		list := reflect.ValueOf(got)
		if accepted := err == nil && (list.Kind() != reflect.Slice || list.Len() > 0); accepted && !withoutID[op.id] {
			t.Errorf("%s decodes %s as %+v", op.id, body, got)
		}
	}
}

// Whole numbers with a fraction or an exponent are whole numbers in every field of every response.
func TestDecode_WholeNumbers(t *testing.T) {
	whole := regexp.MustCompile(`([:,\[]\s*)(-?\d+)([,}\]])`)
	for _, spelling := range []string{"$1$2.0$3", "$1${2}e0$3", "$1${2}0E-1$3", "$1$2.000e+00$3"} {
		for _, op := range operations() {
			client, _ := scriptedClient(t, reply{status: op.status, body: whole.ReplaceAllString(op.response, spelling)})
			got, err := op.call(t.Context(), client)
			if diff := cmp.Diff(op.want, got); err != nil || diff != "" {
				t.Errorf("%s with %s: %v (-want +got):\n%s", op.id, spelling, err, diff)
			}
		}
	}
}

// Zero values are not sent, except where null or an empty list has a meaning.
func TestRequest_OptionalFields(t *testing.T) {
	for _, test := range []struct {
		body any
		want string
	}{
		{InstanceCreate{OfferID: "o", Template: "t", DiskGB: 10}, `{"offer_id":"o","template":"t","disk_gb":10}`},
		{InstanceCreate{SSHKeyIDs: []string{}}, `{"offer_id":"","template":"","disk_gb":0,"ssh_key_ids":[]}`},
		{InstanceUpdate{}, `{"name":null}`},
		{TemplateCreate{Name: "n", Image: "i:1"}, `{"name":"n","image":"i:1"}`},
		{SSHKeyCreate{PublicKey: "p"}, `{"public_key":"p"}`},
		{APIKeyCreate{Name: "n", Scopes: []string{ScopeUserRead}}, `{"name":"n","scopes":["user:read"]}`},
	} {
		if got, err := json.Marshal(test.body); err != nil || string(got) != test.want {
			t.Errorf("sent %s, %v, want %s", got, err, test.want)
		}
	}
	if got := (OfferQuery{}).values().Encode(); got != "" {
		t.Errorf("an empty query is sent as %s", got)
	}
	query := OfferQuery{
		GPU: []string{"h100", "a100"}, NumGPUs: []int64{4, 8}, MinGPUs: new(int64(2)), Type: Interruptible,
		Country: []string{"DE", "NL"}, MinReliability: new(0.9), MinVRAMGB: new(0.0), MaxPriceKopH: new(int64(0)),
		Verified: new(false), MinCUDA: new(12.4), MinDiskGB: new(100.0), MinInetDownMbps: new(500.5), Order: "-price",
	}
	const want = "country=DE%2CNL&gpu=h100%2Ca100&max_price_kop_h=0&min_cuda=12.4&min_disk_gb=100&min_gpus=2" +
		"&min_inet_down_mbps=500.5&min_reliability=0.9&min_vram_gb=0&num_gpus=4%2C8&order=-price&type=interruptible" +
		"&verified=false"
	if got := query.values().Encode(); got != want {
		t.Errorf("sent %s, want %s", got, want)
	}
}

// Missing optional fields and unknown values are not an error.
func TestGetInstance_OptionalFields(t *testing.T) {
	client, _ := scriptedClient(t, ok(`{"id":"i","status":"hibernating","type":"spot","gpu":{},"price":{},"ssh":null}`))
	got, err := client.GetInstance(t.Context(), "i")
	want := Instance{ID: "i", Status: "hibernating", Type: "spot", Omitted: InstanceOmitted{Name: true,
		StopReason: true, URLs: true, CostSoFar: true}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestInvalidInput_SendsNothing(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, do := range map[string]func(*Client) error{
		"empty id":          func(c *Client) error { _, err := c.GetInstance(t.Context(), ""); return err },
		"dot id":            func(c *Client) error { _, err := c.GetOffer(t.Context(), "."); return err },
		"two-dots id":       func(c *Client) error { return c.DeleteSSHKey(t.Context(), "..") },
		"cancelled context": func(c *Client) error { _, err := c.GetMe(cancelled); return err },
	} {
		client, s := scriptedClient(t, ok(`{"id":"x"}`))
		if err := do(client); err == nil || s.attempts() != 0 || IsOutcomeUnknown(err) || IsUnavailable(err) {
			t.Errorf("%s: error %v after %d requests, want a definitive error and none", name, err, s.attempts())
		}
	}
}

func TestWithoutKey(t *testing.T) {
	for _, op := range operations() {
		client := newTestClient(t, &script{answer: func(req *http.Request, _ int) reply {
			if auth, found := req.Header["Authorization"]; found {
				t.Errorf("%s: sent Authorization %q", op.id, auth)
			}
			return op.reply()
		}}, func(c *Config) { c.APIKey = "" })
		_, err := op.call(t.Context(), client)
		allowed := op.doc.Scope == "public" || op.doc.Scope == "optional"
		if allowed != (err == nil) || !allowed && !IsUnauthorized(err) {
			t.Errorf("%s: got %v", op.id, err)
		}
		if client.Authenticated() {
			t.Error("Authenticated is true")
		}
	}
}
