package simulator

func (c *call) getMe() (any, error) { return c.Account.userView, nil }

func (c *call) getBalance() (any, error) { return c.viewBalance(), nil }

func (c *call) listTransactions() (any, error) {
	return listPage(c, "transactions", parseQuery(c.r.URL), c.Ledger, true, keepAll, viewEntry)
}
