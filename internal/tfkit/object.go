package tfkit

import (
	"context"
	"crypto/rand"
	"math"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// PrivateObject is the key of Object in the private state of every resource.
const PrivateObject = "object"

// Object is what the private state of every resource contains about its object.
type Object struct {
	// Token is random. It distinguishes two objects with the same id from two reads of one object.
	Token string `json:"token"`
	// Origin is where the object was created or imported.
	Origin
	// CreatedAt is when the provider created the object, in the API's time; zero after an import.
	CreatedAt time.Time `json:"created_at,omitzero"`
}

// Origin identifies an account of a service.
type Origin struct {
	BaseURL string `json:"base_url"`
	// AccountID is empty if the API key may not read the account.
	AccountID string `json:"account_id,omitempty"`
	// KeyHash is that of the API key, which shows that the account is the same even if it cannot be read.
	KeyHash string `json:"key_hash"`
}

// origin returns the account of the API key. It requests the account once, when something is created, imported or
// missing; if that fails, repeat sends one more request with retries. With an error, the account is not known.
func (m *Meta) origin(ctx context.Context, repeat bool) (Origin, error) {
	origin := Origin{BaseURL: m.Client.BaseURL(), KeyHash: m.Client.KeyHash()}
	user, err := m.account.Get(ctx, math.MaxInt64, 0, m.Client.WithoutRetries().GetMe)
	if err != nil && repeat && !rental.IsForbidden(err) {
		user, err = m.Account(ctx)
	}
	if rental.IsForbidden(err) {
		return origin, nil
	}
	origin.AccountID = user.ID
	return origin, err
}

// NewObject returns the data of an object that is about to be created. If the account cannot be read, the data has no
// id of it.
func (m *Meta) NewObject(ctx context.Context) Object {
	origin, _ := m.origin(ctx, false) //nolint:errcheck // see above
	return Object{Token: rand.Text(), Origin: origin}
}

// SetCreated stores the data of an object that was just created.
func (m *Meta) SetCreated(ctx context.Context, private PrivateSetter, object Object) diag.Diagnostics {
	object.CreatedAt = m.Client.Now().UTC()
	return SetPrivate(ctx, private, PrivateObject, object)
}

// GetObject returns the stored data of an object; the zero value if there is none.
func GetObject(ctx context.Context, private PrivateGetter, diags *diag.Diagnostics) Object {
	return GetPrivate[Object](ctx, private, PrivateObject, diags)
}

// DeletedObject returns the stored data of an object for its deletion. Terraform passes none for a tainted object: then
// the data has the account of this run and no token. It is read now, because an interruption would prevent that later.
func (m *Meta) DeletedObject(ctx context.Context, private PrivateGetter, diags *diag.Diagnostics) Object {
	object := GetObject(ctx, private, diags)
	if object.Token == "" && !diags.HasError() {
		object.Origin, _ = m.origin(ctx, false) //nolint:errcheck // then it is the address only
	}
	return object
}

// Prove makes the token of an object that has none if the API finds the object, which proves its account. After the
// deletion, whose response can be lost, nothing would.
func (o *Object) Prove(found bool) {
	if o.Token == "" && found {
		o.Token = rand.Text()
	}
}

// KeepObject stores the data of an object after its deletion failed. found reports whether the API has accepted the
// deletion, or refused it because of the state of the object. Only that proves the account of an object without a
// token.
func KeepObject(ctx context.Context, private PrivateSetter, object Object, found bool) diag.Diagnostics {
	if object.Prove(found); object.Token == "" {
		return nil
	}
	return SetPrivate(ctx, private, PrivateObject, object)
}

// CompleteObject returns the stored data of an object that was just found. It makes and stores the data first if there
// is none, and updates the address and the key, and the account if the API key could not read it before.
func (m *Meta) CompleteObject(
	ctx context.Context, stored PrivateGetter, private PrivateSetter, diags *diag.Diagnostics,
) Object {
	object := GetObject(ctx, stored, diags)
	before := object
	switch {
	case diags.HasError():
		return object
	case object.Token == "":
		object = m.NewObject(ctx)
	case object.AccountID == "":
		object.Origin, _ = m.origin(ctx, false) //nolint:errcheck // a later refresh adds the account
	default:
		object.BaseURL, object.KeyHash = m.Client.BaseURL(), m.Client.KeyHash()
	}
	if object != before {
		diags.Append(SetPrivate(ctx, private, PrivateObject, object)...)
	}
	return object
}

// CheckOrigin reports an error if an object that the API does not find may belong to another account or service than
// the one of this run: then it may still exist. The same key at the same address proves that the account is the same;
// with another key, the account must be known now and from before. An object without a token may still exist, too:
// Terraform stores an object without its private state if the provider was killed while it changed the object, and a
// tainted one if its deletion failed. what names the object: "instance ins_1".
func (m *Meta) CheckOrigin(ctx context.Context, object Object, what Text, diags *diag.Diagnostics) (same bool) {
	now := Origin{BaseURL: m.Client.BaseURL(), KeyHash: m.Client.KeyHash()}
	switch {
	case object.Token == "":
		addUnknownOrigin(diags, what)
		return false
	case now.BaseURL != object.BaseURL:
		addOtherOrigin(diags, what, object.Origin, now)
		return false
	case now.KeyHash == object.KeyHash:
		return true
	}
	now, err := m.origin(ctx, true)
	switch {
	case err != nil:
		AddAPIError(diags, Textf("find out whether %s belongs to this account", what), err)
	case now.AccountID == "" || object.AccountID == "":
		addOtherKey(diags, what, now)
	case now.AccountID != object.AccountID:
		addOtherOrigin(diags, what, object.Origin, now)
	default:
		return true
	}
	return false
}
