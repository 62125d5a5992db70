package judge

// portFTP is of FTP's commands (RFC 959). Its data goes by a port that the server
// chooses for each transfer (RFC 2428), above those that services have.
const (
	portFTP   = 21
	leastData = 1024
)

const ftpWords = "no rule opens this host at this port, and FTP, for which it is named, takes another one for each transfer: use sftp or https, where the server has it"

// isFTP says whether a port that no rule opens is likely to be one of FTP's for
// data: what would open it would not open the next.
func (t *table) isFTP(h host, port uint16) bool {
	if port < leastData || t.every {
		return false
	}
	_, _, open := t.match(h, portFTP)
	return open
}
