package names

import "net/netip"

// query is what a message asks, as far as it matters here.
type query struct {
	id     uint16
	opcode uint8
	rd, cd bool
	// name is as it was asked, case kept, fully qualified. It is in
	// presentation form: a byte that is no letter, digit, - or _ may be escaped.
	name  string
	kind  uint16
	class uint16
	edns  edns
}

// edns is the OPT record of a query (RFC 6891).
type edns struct {
	there   bool
	version uint8
	size    uint16
	do      bool
}

// answer is what a query is answered with.
type answer struct {
	code    int // the response code, extended ones included
	records []record
	// negative adds the SOA record that says for how long nothing is there
	// (RFC 2308).
	negative bool
	// blocked adds the extended error that says why (RFC 8914).
	blocked bool
	// bare leaves the question out, where it could not be read or is not one.
	bare bool
}

// record is one answer, for the name of the question.
type record struct {
	kind uint16     // typeA, typeAAAA, typePTR or typeHINFO
	addr netip.Addr // of typeA and typeAAAA
	name string     // of typePTR, without the dot at its end
}

// The types, classes and codes that are told apart (IANA, Domain Name System
// Parameters).
const (
	typeA     = 1
	typePTR   = 12
	typeHINFO = 13
	typeMX    = 15
	typeTXT   = 16
	typeAAAA  = 28
	typeSRV   = 33
	typeNAPTR = 35
	typeANY   = 255
	typeURI   = 256

	classIN = 1

	codeFormat   = 1
	codeServer   = 2
	codeNoName   = 3
	codeNotThere = 4
	codeRefused  = 5
	codeVersion  = 16

	opcodeQuery = 0
)

// codec turns bytes into queries and answers into bytes. It is what this
// package needs of a DNS library, and no more.
type codec interface {
	// parse reads a message. Its verdict says what to do about one that
	// cannot be answered as a query; then only id, opcode, rd, cd and, for
	// badVersion, name, kind, class and edns are set.
	parse(message []byte) (query, verdict)
	// pack makes the answer, of at most limit bytes: what does not fit is left
	// out and the answer marked as truncated.
	pack(q query, a answer, limit int) ([]byte, error)
}

// verdict is what parse found.
type verdict int

const (
	fine       verdict = iota
	silence            // an answer, or no message at all: not answered, so that nothing loops
	badOpcode          // not a query
	badFormat          // not one question, or nothing that can be read
	badVersion         // an EDNS version that is not known
)
