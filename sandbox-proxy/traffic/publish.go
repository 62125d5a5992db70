package traffic

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/lnkhq/lnk-sandbox/measure-contract"
	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
)

// everyTime is how often the counts are looked at.
const everyTime = time.Second

// A Publisher keeps one record up to date until it is closed.
type Publisher struct {
	path    string
	record  func() measure.Traffic
	trouble func(error)
	done    chan struct{}
	once    sync.Once
	ended   sync.WaitGroup
}

// Publish publishes what count gives, as this process's record of a sandbox,
// whatever process and sandbox it says. It never waits for the disk. Trouble is told of the first failure; nil tells
// nobody. What proxies that are gone have left is swept.
func Publish(s client.SettingsFolder, sandbox string, count func() measure.Traffic, trouble func(error)) *Publisher {
	p := &Publisher{trouble: trouble, done: make(chan struct{})}
	p.record = func() measure.Traffic {
		t := count()
		t.PID, t.Sandbox = os.Getpid(), sandbox
		return t
	}
	p.ended.Go(func() {
		start, err := client.StartMarker(os.Getpid())
		if err == nil {
			p.path, err = s.Traffic(os.Getpid(), start)
		}
		if err != nil {
			p.tell(err)
			return
		}
		p.run()
	})
	p.ended.Go(func() { Sweep(s, client.StartMarker) })
	return p
}

// Close removes the record.
func (p *Publisher) Close() {
	p.once.Do(func() { close(p.done) })
	p.ended.Wait()
}

func (p *Publisher) run() {
	tick := time.NewTicker(everyTime)
	defer tick.Stop()
	defer os.Remove(p.path)
	var last []byte
	for {
		var now bytes.Buffer
		err := client.WriteTrafficRecord(&now, p.record())
		if err == nil && !bytes.Equal(now.Bytes(), last) {
			if err = write(p.path, now.Bytes()); err == nil {
				last = now.Bytes()
			}
		}
		if err != nil {
			p.tell(err)
		}
		select {
		case <-p.done:
			return
		case <-tick.C:
		}
	}
}

// tell tells of the first failure.
func (p *Publisher) tell(err error) {
	if p.trouble != nil {
		p.trouble(err)
		p.trouble = nil
	}
}

// write writes a record beside its place and moves it there. The name beside
// is always the same, so that a killed process leaves one at most.
func write(path string, record []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	beside := besideName(path)
	if err := os.WriteFile(beside, record, 0o600); err != nil {
		os.Remove(beside)
		return err
	}
	if err := os.Rename(beside, path); err != nil {
		os.Remove(beside)
		return err
	}
	return nil
}
