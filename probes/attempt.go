package probes

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"
)

// A Kind is what an attempt does.
type Kind string

// What attempts do. Each leaves things as they were.
const (
	ReadPath    Kind = "read"    // reads a byte of a file, or a folder
	OpenPath    Kind = "open"    // the same, where there may be nothing to read
	WritePath   Kind = "write"   // makes a file in a folder and takes it away, or opens a file to write
	Plant       Kind = "plant"   // the same of a dot file, that it makes where it is not there
	Move        Kind = "move"    // gives a folder another name, and its own again
	SeeProcess  Kind = "see"     // finds a process of this machine
	DialTCP     Kind = "tcp"     // calls a listener, which says the secret word
	Reach       Kind = "reach"   // opens a connection, and says nothing
	SendUDP     Kind = "udp"     // sends a word and hears it said back
	DialUnix    Kind = "unix"    // calls a listener on a unix socket
	Connect     Kind = "connect" // asks the proxy for a connection
	ConnectWord Kind = "word"    // the same, to a listener that says the secret word
	Execute     Kind = "execute" // starts a program that it made
	Memory      Kind = "memory"  // starts a program from memory
	Kernel      Kind = "kernel"  // asks the kernel for what Path names
)

// An Attempt is one thing that is done, as it is said to the process inside.
type Attempt struct {
	Kind Kind `json:"kind"`
	// Path is a file, a socket (one that begins with @ is abstract), or what
	// is asked of the kernel.
	Path string `json:"path,omitempty"`
	// Address is a host and a port.
	Address string `json:"address,omitempty"`
	// Word is what a listener of ours says, or a file of ours holds.
	Word string `json:"word,omitempty"`
	// Process is a process of this machine, and Started its start time in
	// clock ticks since boot (proc_pid_stat(5)).
	Process int    `json:"process,omitempty"`
	Started string `json:"started,omitempty"`
}

// maxTask bounds what the process inside reads.
const maxTask = 4 << 20

// atOnce is how many attempts are made at a time.
const atOnce = 8

// Inside reads attempts, makes them, and writes what came of each, in their
// order. It is what runs inside.
func Inside(r io.Reader, w io.Writer) error {
	var all []Attempt
	if err := json.NewDecoder(io.LimitReader(r, maxTask)).Decode(&all); err != nil {
		return fmt.Errorf("what to try: %w", err)
	}
	results := make([]Result, len(all))
	places := make(chan struct{}, atOnce)
	var work sync.WaitGroup
	for i, a := range all {
		work.Go(func() {
			places <- struct{}{}
			results[i] = Try(a)
			<-places
		})
	}
	work.Wait()
	return json.NewEncoder(w).Encode(results)
}

// Ask writes what Inside reads: the attempts of the probes that can be tried.
func Ask(w io.Writer, all []Probe) error {
	ask := []Attempt{}
	for _, p := range all {
		if p.Missing == "" {
			ask = append(ask, p.Attempt)
		}
	}
	return json.NewEncoder(w).Encode(ask)
}

// Answers reads what Inside writes, and judges it.
func Answers(r io.Reader, all []Probe) ([]Line, error) {
	var results []Result
	if err := json.NewDecoder(io.LimitReader(r, maxTask)).Decode(&results); err != nil {
		return nil, fmt.Errorf("what the process inside said: %w", err)
	}
	lines := make([]Line, 0, len(all))
	for _, p := range all {
		if p.Missing != "" {
			lines = append(lines, p.Judge(Result{}))
			continue
		}
		if len(results) == 0 {
			return nil, fmt.Errorf("the process inside said nothing of %s", p.Name)
		}
		lines = append(lines, p.Judge(results[0]))
		results = results[1:]
	}
	return lines, nil
}
