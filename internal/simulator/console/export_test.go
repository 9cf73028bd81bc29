package console

// Texts exports the texts of both languages for tests.
func Texts() (en, ru map[string]string) { return english, russian }
