package simulator

import (
	"fmt"
)

const (
	// baseDiskGB is the disk that an offer's price includes.
	baseDiskGB = 10
	// hoursPerMonth turns a monthly price into an hourly one.
	hoursPerMonth = 730
	// fundedHours is how many hours of runtime the balance must cover.
	fundedHours = 2
	// maxIdempotencyKey is in characters.
	maxIdempotencyKey = 64
)

// diskKopH is what a disk costs an hour.
func diskKopH(o *offer, gb int64) int64 { return ceilDiv(o.storageKopGBMonth*gb, hoursPerMonth) }

// extraDiskKopH is what the part of a disk beyond the base costs an hour.
func extraDiskKopH(o *offer, gb int64) int64 { return diskKopH(o, max(gb-baseDiskGB, 0)) }

// order is what a client asks to rent.
type order struct {
	offerID, template string
	diskGB            int64
	name              *string
	// sshKeyIDs is nil for all keys of the account, empty for none.
	sshKeyIDs []string
	rental    string
	image     *string
	// callers are who rents, for the price that was shown to them.
	callers []string
}

var (
	textNoEnv     = text{"пока не поддерживается: пустой объект или ничего", "is not supported yet: send an empty object or omit it"}
	textNoOnStart = text{"пока не поддерживается: null или ничего", "is not supported yet: send null or omit it"}
	textNoKey     = text{"нет такого SSH-ключа: %s", "no such SSH key: %s"}
	textNoImage   = text{"образ можно выбрать только для шаблона custom", "an image can be chosen only for the custom template"}
	textDiskLow   = text{"шаблону нужно не меньше %d ГБ", "the template needs at least %d GB"}
	textDiskHigh  = text{"у сервера есть не больше %d ГБ", "the server has at most %d GB"}
	textNoBids    = text{"этот сервер не сдаётся с прерыванием", "this server is not let as interruptible"}
)

func readOrder(f *fields) (order, error) {
	var o order
	f.need("offer_id", "template", "disk_gb")
	if id := f.str("offer_id", 1, 200); id != nil {
		o.offerID = *id
	}
	if slug := f.str("template", 1, 200); slug != nil {
		o.template = *slug
	}
	if disk := f.integer("disk_gb", minDiskGB, maxDiskGB); disk != nil {
		o.diskGB = *disk
	}
	o.name = f.str("name", 0, 60)
	o.sshKeyIDs = f.strings("ssh_key_ids", 10)
	o.rental = typeOnDemand
	if rental := f.enum("type", typeOnDemand, typeInterruptible); rental != nil {
		o.rental = *rental
	}
	o.image = f.str("image", 1, 500)
	if len(f.stringMap("env", maxBody)) > 0 {
		f.add("env", textNoEnv)
	}
	if !f.null("onstart") {
		if _, sent := f.take("onstart"); sent {
			f.add("onstart", textNoOnStart)
		}
	}
	return o, f.end()
}

// rent quotes the offer, locks its price and creates the instance.
func (w *world) rent(o order) (*instance, error) {
	if !w.account.EmailVerified {
		return nil, fail(codeForbidden).saying("Сначала подтвердите e-mail", "Confirm the e-mail address first").
			withDetail("reason", "email_not_verified")
	}
	offer, template := w.findOffer(o.offerID), w.findTemplate(o.template)
	if offer == nil {
		return nil, notFound("Предложение не найдено", "There is no such offer")
	}
	if template == nil {
		return nil, notFound("Шаблон не найден", "There is no such template")
	}
	keys, err := w.checkOrder(o, offer, template)
	if err != nil {
		return nil, err
	}
	if !offer.Online {
		return nil, fail(codeProviderUnavailable).withHeader("Retry-After", "30")
	}
	if !offer.available() {
		return nil, conflict("Предложение уже занято", "The offer has been taken")
	}
	if int64(len(w.active)) >= w.account.MaxInstances {
		return nil, conflict("Достигнут предел числа серверов", "The limit of instances is reached")
	}
	if err := w.requireShownPrice(offer, o.rental, o.callers); err != nil {
		return nil, err
	}
	price := *offer.price(o.rental)
	running := w.movedPrice(quirkPriceMovesOnCreate, offer, price) + extraDiskKopH(offer, o.diskGB)
	if err := w.requireFunds(running); err != nil {
		return nil, err
	}
	i := &instance{
		Seq: w.nextSeq(), ID: w.newID("ins"), Name: o.name, offer: offer, Rental: o.rental, template: template,
		OfferID: offer.id, TemplateSlug: template.Slug,
		Image: template.Image, DiskGB: o.diskGB, Status: statusCreating, Desired: desiredRunning, CreatedAt: w.at,
		RunningKopH: running, StoppedKopH: diskKopH(offer, o.diskGB), TrafficKopGB: offer.trafficKopGB,
		Host: fmt.Sprintf("203.0.113.%d", 1+w.ids.IntN(254)), FirstPort: 20000 + 16*w.ids.Int64N(2000),
	}
	if o.image != nil {
		i.Image = *o.image
	}
	if o.rental == typeInterruptible {
		i.BidKopH = price
	}
	w.begin(i, keys)
	return i, nil
}

// checkOrder holds an order against what it names, and returns the SSH keys it means.
func (w *world) checkOrder(o order, offer *offer, template *template) ([]*sshKey, error) {
	var wrong issues
	if o.diskGB < template.MinDiskGB {
		wrong.add("disk_gb", textDiskLow.with(template.MinDiskGB))
	}
	if offer.diskMaxGB != nil && o.diskGB > *offer.diskMaxGB {
		wrong.add("disk_gb", textDiskHigh.with(*offer.diskMaxGB))
	}
	if offer.price(o.rental) == nil {
		wrong.add("type", textNoBids)
	}
	if o.image != nil {
		switch {
		case !template.Custom:
			wrong.add("image", textNoImage)
		case !taggedImage(*o.image):
			wrong.add("image", textImage)
		}
	}
	if o.sshKeyIDs == nil {
		return w.sshKeys, wrong.err()
	}
	var keys []*sshKey
	for _, id := range o.sshKeyIDs {
		k := w.findSSHKey(id)
		if k == nil {
			wrong.add("ssh_key_ids", textNoKey.with(id))
			continue
		}
		keys = append(keys, k)
	}
	return keys, wrong.err()
}

// requireFunds refuses when the money there is does not cover the funded hours at a price.
func (w *world) requireFunds(kopH int64) error {
	short := fundedHours*kopH - (w.availableKop() + w.account.CreditLimitKop)
	if short <= 0 {
		return nil
	}
	return fail(codeInsufficientFunds).withDetail("short_kop", short)
}
