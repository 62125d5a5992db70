package procfs

import "strings"

// Stat gives the fields of a process's stat (proc_pid_stat(5)) from the third
// on: its state, parent, group and so on, so that field n of the man page is
// the one at n-3. The second is a name in parentheses that may hold anything,
// parentheses too. A text of another form has none.
func Stat(stat string) []string {
	end := strings.LastIndexByte(stat, ')')
	if end < 0 {
		return nil
	}
	return strings.Fields(stat[end+1:])
}
