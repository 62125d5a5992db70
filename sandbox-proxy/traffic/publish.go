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

// Publish publishes what carried gives, as this process's record of a sandbox.
// It never waits for the disk. Trouble is told of the first failure; nil tells
// nobody. What proxies that are gone have left is swept.
func Publish(s client.SettingsFolder, sandbox string, carried func() (up, down uint64), trouble func(error)) *Publisher {
	p := &Publisher{trouble: trouble, done: make(chan struct{})}
	p.record = func() measure.Traffic {
		up, down := carried()
		return measure.Traffic{PID: os.Getpid(), Sandbox: sandbox, Up: up, Down: down}
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
	var last measure.Traffic
	for published := false; ; {
		if now := p.record(); !published || now.Up != last.Up || now.Down != last.Down {
			err := write(p.path, now)
			if err != nil {
				p.tell(err)
			} else {
				last, published = now, true
			}
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
func write(path string, t measure.Traffic) error {
	var b bytes.Buffer
	if err := client.WriteTrafficRecord(&b, t); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	beside := besideName(path)
	if err := os.WriteFile(beside, b.Bytes(), 0o600); err != nil {
		os.Remove(beside)
		return err
	}
	if err := os.Rename(beside, path); err != nil {
		os.Remove(beside)
		return err
	}
	return nil
}
