package route

// Route is one way out beside the network.
type Route struct{ _ [0]func() }

// Caller tells a bridge which sandbox calls.
type Caller struct {
	Sandbox string `json:"sandbox"`
	Key     string `json:"key"`
}
