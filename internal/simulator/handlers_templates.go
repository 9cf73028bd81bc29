package simulator

import "net/http"

func (c *call) listTemplates() (any, error) {
	visible := func(t *template) bool {
		return !t.Deleted && (t.Owner == ownerCatalog || c.key != nil)
	}
	return listPage(c, "templates", parseQuery(c.r.URL), c.Templates, false, visible, viewTemplate)
}

func (c *call) createTemplate() (any, error) {
	t, err := readTemplate(c.fields)
	if err != nil {
		return nil, err
	}
	if c.ownTemplates() >= maxOwnTemplates {
		return nil, conflict(text{"Достигнут предел в 20 своих шаблонов", "The limit of 20 own templates is reached"})
	}
	c.status = http.StatusCreated
	t.Seq, t.Slug = c.nextSeq(), c.newSlug(t.Name)
	c.Templates = append(c.Templates, t)
	return viewTemplate(t), nil
}

// deleteTemplate hides the template. Its instances keep running.
func (c *call) deleteTemplate() (any, error) {
	t := c.findTemplate(c.params["slug"])
	if t == nil || t.Owner != ownerMe {
		return nil, notFound(text{"Шаблон не найден", "Own template not found"})
	}
	t.Deleted = true
	return nil, nil
}
