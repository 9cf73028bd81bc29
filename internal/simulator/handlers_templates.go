package simulator

func (c *call) listTemplates() (any, error) {
	visible := func(t *template) bool {
		return !t.Deleted && (t.Owner == ownerCatalog || c.key != nil)
	}
	return listNumbered(c, "templates", parseQuery(c.r.URL), c.catalog, false, visible, viewTemplate)
}

func (c *call) createTemplate() (any, error) {
	f, err := parseFields(c.body)
	if err != nil {
		return nil, err
	}
	t, err := readTemplate(f)
	if err != nil {
		return nil, err
	}
	if c.ownTemplates() >= maxOwnTemplates {
		return nil, conflict("Достигнут предел в 20 своих шаблонов", "The limit of 20 own templates is reached")
	}
	t.Seq, t.Slug = c.nextSeq(), c.newSlug(t.Name)
	c.catalog = append(c.catalog, t)
	return viewTemplate(t), nil
}

// deleteTemplate hides the template; servers made from it go on.
func (c *call) deleteTemplate() (any, error) {
	t := c.findTemplate(c.params["slug"])
	if t == nil || t.Owner != ownerMe {
		return nil, notFound("Шаблон не найден", "There is no such template of yours")
	}
	t.Deleted = true
	return nil, nil
}
