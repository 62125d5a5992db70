package proxy

import "time"

// What one sandbox may hold and how long it is waited for.
const (
	// maxCalls bounds calls that are open at once: tunnels, and plain
	// requests under way. One more is answered with 503.
	maxCalls = 512
	// maxInward bounds connections from this machine to ports inside. One more
	// is reset.
	maxInward = 512
	// maxWaiting bounds connections that have asked for nothing yet, or for
	// nothing more, or that do not read what they were answered. One more ends the one that has waited longest, so that a
	// program that opens thousands shuts out nobody but itself.
	maxWaiting = 1024
	// keptWorkers is how many goroutines wait for the next connection.
	keptWorkers = 16
	// maxDials bounds calls that are being connected.
	maxDials = 128

	// maxHeadBytes bounds a request's or an answer's head, a ClientHello, and
	// each line of a chunked body.
	maxHeadBytes = 64 << 10
	// firstBytes is read at first, chunkBytes of a chunked body.
	firstBytes = 4 << 10
	chunkBytes = 32 << 10

	// headTime is for a whole head, from its first byte on.
	headTime = 10 * time.Second
	// helloTime is for a whole ClientHello after the way is open: some
	// clients open a connection before they need it.
	helloTime = 30 * time.Second
	// betweenTime is how long a connection may wait between two requests.
	betweenTime = 2 * time.Minute
	// dialTime is for a connection to the far side, all its addresses
	// together; nextAddress is when the next one is tried beside the last
	// (RFC 8305 section 8).
	dialTime    = 15 * time.Second
	nextAddress = 250 * time.Millisecond
	// upstreamTime is for an upstream's answer to CONNECT.
	upstreamTime = 30 * time.Second
	// expectTime is how long an origin may take to answer an Expect before the
	// body is sent all the same (RFC 9110 section 10.1.1).
	expectTime = time.Second

	// tunnelIdle is the silence that is allowed. A model that thinks says
	// nothing for minutes; dead peers are found by keepalive.
	tunnelIdle = time.Hour
	// tunnelDrain is the silence that is allowed once one side has ended.
	tunnelDrain = 2 * time.Minute
	// keepalive of far sides: probes after 30 s of silence, given up after
	// four. The program's connections have package net's.
	keepaliveTime  = 30 * time.Second
	keepaliveCount = 4

	// lingerTime and lingerBytes bound what is read and thrown away after a
	// last answer, so that it arrives (RFC 9112 section 9.6).
	lingerTime  = 2 * time.Second
	lingerBytes = 256 << 10
	// drainTime bounds how long a body is thrown away that was answered before
	// it was whole. It ends with lingerTime of silence.
	drainTime = 30 * time.Second

	// acceptWait and acceptWaitMost bound the waits after a failed accept: the
	// descriptors may have run out.
	acceptWait     = 5 * time.Millisecond
	acceptWaitMost = time.Second

	// maxTold bounds the distinct host:port whose refusal is told.
	maxTold = 4096

	// idleOrigins is how many connections to one origin are kept for the next
	// plain request, idleAll how many in all, idleOriginTime how long.
	idleOrigins    = 64
	idleAll        = 256
	idleOriginTime = 90 * time.Second
	// lookAtIdle is how often they are looked at while there are some: a far side
	// may have closed one.
	lookAtIdle = 5 * time.Second
	// quickly is how long an answer may take before its program is watched: one
	// that leaves ends the request.
	quickly = 50 * time.Millisecond
)
