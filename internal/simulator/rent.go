package simulator

import "fmt"

const (
	// baseDiskGB is the disk size that the price of an offer includes.
	baseDiskGB = 10
	// hoursPerMonth converts monthly to hourly prices.
	hoursPerMonth = 730
	// minRuntimeHours is how many hours of runtime the funds must cover.
	minRuntimeHours = 2
	// maxIdempotencyKey is in characters.
	maxIdempotencyKey = 64
)

// diskKopH returns the hourly price of a disk.
func diskKopH(o *offer, gb int64) int64 { return ceilDiv(o.Price.StorageKopGBMonth*gb, hoursPerMonth) }

// extraDiskKopH returns the hourly price of the part of a disk above the base size.
func extraDiskKopH(o *offer, gb int64) int64 { return diskKopH(o, max(gb-baseDiskGB, 0)) }

// rentRequest is the body of POST /instances.
type rentRequest struct {
	offerID, template string
	diskGB            int64
	name              *string
	// sshKeyIDs is nil for all keys of the account, empty for none.
	sshKeyIDs      []string
	rentalType     string
	image          *string
	idempotencyKey string
	// callers identify the client whose shown price is checked.
	callers []string
}

var (
	textNoEnv = text{"пока не поддерживается: пустой объект или ничего",
		"is not supported yet: send an empty object or omit it"}
	textNoOnStart = text{"пока не поддерживается: null или ничего", "is not supported yet: send null or omit it"}
	textNoKey     = text{"нет такого SSH-ключа: %s", "no such SSH key: %s"}
	textNoImage   = text{"образ можно выбрать только для шаблона custom",
		"an image can be chosen only for the custom template"}
	textDiskLow  = text{"шаблону нужно не меньше %d ГБ", "the template needs at least %d GB"}
	textDiskHigh = text{"у сервера есть не больше %d ГБ", "the server has at most %d GB"}
	textNoBids   = text{"у предложения нет прерываемой цены", "the offer has no interruptible price"}
)

func readRentRequest(f *fields) (rentRequest, error) {
	var req rentRequest
	f.require("offer_id", "template", "disk_gb")
	if id := f.str("offer_id", 1, 200); id != nil {
		req.offerID = *id
	}
	if slug := f.str("template", 1, 200); slug != nil {
		req.template = *slug
	}
	if disk := f.integer("disk_gb", minDiskGB, maxDiskGB); disk != nil {
		req.diskGB = *disk
	}
	req.name = f.str("name", 0, 60)
	req.sshKeyIDs = f.strings("ssh_key_ids", 10)
	req.rentalType = typeOnDemand
	if rentalType := f.enum("type", typeOnDemand, typeInterruptible); rentalType != nil {
		req.rentalType = *rentalType
	}
	req.image = f.str("image", 1, 500)
	if len(f.stringMap("env", maxBody)) > 0 {
		f.add("env", textNoEnv)
	}
	if !f.isNull("onstart") {
		if _, sent := f.raw("onstart"); sent {
			f.add("onstart", textNoOnStart)
		}
	}
	return req, f.finish()
}

// rent locks the price of an offer and creates an instance.
func (e *engine) rent(req rentRequest) (*instance, error) {
	if !e.Account.EmailVerified {
		return nil, newError(codeForbidden).
			withText(text{"Сначала подтвердите e-mail", "Confirm the e-mail address first"}).
			withDetail("reason", "email_not_verified")
	}
	offer, template := e.findOffer(req.offerID), e.findTemplate(req.template)
	if offer == nil {
		return nil, notFound(textNoOffer)
	}
	if template == nil {
		return nil, notFound(text{"Шаблон не найден", "Template not found"})
	}
	keys, err := e.checkRentRequest(req, offer, template)
	if err != nil {
		return nil, err
	}
	if !offer.available() {
		return nil, conflict(text{"Предложение уже занято", "The offer has been taken"})
	}
	if int64(len(e.active)) >= e.Account.MaxInstances {
		return nil, conflict(text{"Достигнут предел числа серверов", "The limit of instances is reached"})
	}
	if err := e.requireShownPrice(offer, req.rentalType, req.callers); err != nil {
		return nil, err
	}
	price := *offer.price(req.rentalType)
	running := e.config.Hooks.LockPrice(offer.ID, false, price) + extraDiskKopH(offer, req.diskGB)
	if err := e.requireFunds(running); err != nil {
		return nil, err
	}
	i := &instance{
		Seq: e.nextSeq(), ID: e.newID("ins"), IdempotencyKey: req.idempotencyKey, Name: req.name, Rental: req.rentalType,
		offer: offer, template: template, OfferID: offer.ID, TemplateSlug: template.Slug,
		Image: template.Image, DiskGB: req.diskGB, Status: statusCreating, Desired: desiredRunning, CreatedAt: e.Now,
		RunningKopH: running, StoppedKopH: diskKopH(offer, req.diskGB), TrafficKopGB: offer.Price.TrafficKopGB,
		Host: fmt.Sprintf("203.0.113.%d", 1+e.IDs.rand().IntN(254)), FirstPort: 20000 + 16*e.IDs.rand().Int64N(2000),
	}
	if req.image != nil {
		i.Image = *req.image
	}
	if req.rentalType == typeInterruptible {
		i.BidKopH = price
	}
	e.launch(i, keys)
	return i, nil
}

// checkRentRequest validates a request against its offer and template, and returns the SSH keys.
func (e *engine) checkRentRequest(req rentRequest, offer *offer, template *template) ([]*sshKey, error) {
	var wrong issues
	if req.diskGB < template.MinDiskGB {
		wrong.add("disk_gb", textDiskLow.with(template.MinDiskGB))
	}
	if offer.Disk.MaxGB != nil && req.diskGB > *offer.Disk.MaxGB {
		wrong.add("disk_gb", textDiskHigh.with(*offer.Disk.MaxGB))
	}
	if offer.price(req.rentalType) == nil {
		wrong.add("type", textNoBids)
	}
	if req.image != nil {
		switch {
		case !template.Custom:
			wrong.add("image", textNoImage)
		case !taggedImage(*req.image):
			wrong.add("image", textImage)
		}
	}
	if req.sshKeyIDs == nil {
		return e.SSHKeys, wrong.err()
	}
	var keys []*sshKey
	for _, id := range req.sshKeyIDs {
		k := e.findSSHKey(id)
		if k == nil {
			wrong.add("ssh_key_ids", textNoKey.with(id))
			continue
		}
		keys = append(keys, k)
	}
	return keys, wrong.err()
}

// requireFunds returns an error if the funds do not cover minRuntimeHours at a price.
func (e *engine) requireFunds(kopH int64) error {
	short := minRuntimeHours*kopH - (e.availableKop() + e.Account.CreditLimitKop)
	if short <= 0 {
		return nil
	}
	return newError(codeInsufficientFunds).withDetail("short_kop", short)
}
