package simulator

import (
	"cmp"
	"net/url"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator/console"
)

const defaultClientName = "CLI"

func (c *call) createDeviceCode() (any, error) {
	f := c.fields
	var clientName string
	if name := f.str("client_name", 0, 60); name != nil {
		clientName = *name
	}
	if err := f.finish(); err != nil {
		return nil, err
	}
	d := c.createLogin(cmp.Or(clientName, defaultClientName))
	page := "http://" + c.r.Host + console.DevicePath
	return deviceCodeView{
		DeviceCode: d.DeviceCode, UserCode: d.UserCode, VerificationURI: page,
		VerificationURIComplete: page + "?" + url.Values{"code": {d.UserCode}}.Encode(),
		ExpiresIn:               int64(deviceLifetime / time.Second), Interval: int64(d.Interval / time.Second),
	}, nil
}

func (c *call) createDeviceToken() (any, error) {
	f := c.fields
	f.require("device_code")
	code := f.str("device_code", 1, 200)
	if err := f.finish(); err != nil {
		return nil, err
	}
	d, err := c.pollLogin(*code)
	if err != nil {
		return nil, err
	}
	k, secret := c.issueKey(d.ClientName, sourceCLI, allScopes, nil)
	return deviceTokenView{secret, k.ID, deviceTokenUser{c.Account.Email}}, nil
}
