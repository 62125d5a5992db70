// Package wires holds a proxy to the flags that its owner sets: files under
// the settings folder that stop every wire, or pause one.
//
// Start with [Of], whose answer reads them for one sandbox and is a proxy's
// Config.Wire, and [Watch], which tells a proxy that they may have changed, so
// that open calls are cut within a tenth of a second. Together:
//
//	p, err := proxy.New(proxy.Config{…, Wire: wires.Of(settings, name)})
//	w := wires.Watch(settings, p.CheckWire)
//	defer w.Close()
//
// What cannot be read is a stop; what is missing is open. Nothing is created:
// a folder that is not there yet is watched for from above it. Where the system
// gives no watch (its instances are bounded), the flags are looked at twenty
// times a second instead. A flag that another machine sets on a shared disk is
// seen within a second by open calls, and by new ones at once.
package wires
