package console

// Texts gives tests the texts of both languages.
func Texts() (en, ru map[string]string) { return english, russian }
