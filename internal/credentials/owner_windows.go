package credentials

import "io/fs"

// Windows has access control lists instead of owners and modes. A file in the user's profile inherits the list of the
// profile, which excludes other users. Changed lists are not detected.

func checkFile(string, fs.FileInfo, int) error { return nil }

func checkFolder(string, fs.FileInfo, int) error { return nil }
