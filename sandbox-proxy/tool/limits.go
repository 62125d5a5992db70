package tool

import "time"

// What one sandbox may ask of its tools, and how long it is waited for.
const (
	// maxCalls bounds the calls of all tools of a sandbox that are under way,
	// those that wait for an answer included.
	maxCalls = 32
	// maxAsked bounds those that wait for an answer: a person reads them.
	maxAsked = 4
	// callsPerSecond and callsAtOnce bound how often a tool is started.
	callsPerSecond = 20
	callsAtOnce    = 60

	// maxWords and maxWordBytes bound the words of one call, well under what
	// the kernel takes (execve(2)); maxWord is a single one's (MAX_ARG_STRLEN).
	maxWords     = 4096
	maxWordBytes = 512 << 10
	maxWord      = 128<<10 - 1
	// maxFolder bounds the name of the working folder (PATH_MAX).
	maxFolder = 4095
	// maxShown bounds a call as a person is shown it. A longer one cannot be
	// read, and so not be asked about.
	maxShown = 4 << 10
	// maxInput bounds the standard input of one call.
	maxInput = 16 << 30
	// maxAnswer bounds what is kept of each of the two streams for an answer
	// in JSON; the rest is read and thrown away.
	maxAnswer = 4 << 20
	// maxAnswers bounds what all such answers of a sandbox hold together.
	maxAnswers = 64 << 20
	// maxTail is how much of the errors' end a trailer carries.
	maxTail = 4 << 10

	// describeTime is for a call's words to have come.
	describeTime = 10 * time.Second
	// graceTime is between SIGTERM and SIGKILL of a call that is cancelled;
	// closeTime is the same at the end of the sandbox.
	graceTime = 2 * time.Second
	closeTime = 500 * time.Millisecond
	// drainTime is how long output is waited for after the tool has ended:
	// something that it left may hold it open.
	drainTime = time.Second
	// probeTime is how often a caller that waits for a whole answer is
	// looked for: a program that is gone leaves the connection half open.
	probeTime = 2 * time.Second

	// maxURL bounds the address of a page to open.
	maxURL = 4 << 10
	// pagesAtOnce and pageEvery bound how many pages are opened: so many at
	// first, then one each so often.
	pagesAtOnce = 3
	pageEvery   = 10 * time.Second
	// samePage is how long the same page is not opened again.
	samePage = 5 * time.Second
	// openTime is how long the opener may take: one that still runs is the
	// browser.
	openTime = 5 * time.Second
)
