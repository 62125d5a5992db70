// Package route is what a sandbox's routes are: the ways out beside the
// network that its proxy mounts.
package route
