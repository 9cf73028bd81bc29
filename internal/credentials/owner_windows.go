package credentials

import "io/fs"

// Windows has access control lists in place of owners and modes. A file in the user's profile takes over the profile's
// list, which keeps other users out; a list that was changed is not noticed.

func checkFile(string, fs.FileInfo, int) error { return nil }

func checkFolder(string, fs.FileInfo, int) error { return nil }
