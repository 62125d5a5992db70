package cli

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
)

// withKeys says of a key of a spec that is none which there are in its place.
func withKeys(err error) error {
	var refused *client.SpecError
	if !errors.As(err, &refused) || refused.Problem != "unknown" {
		return err
	}
	table, key := "", refused.Key
	if at := strings.LastIndexByte(key, '.'); at >= 0 {
		table = key[:at]
	}
	of := reflect.TypeFor[client.Spec]()
	if table != "" {
		field, ok := fieldOf(of, table)
		if !ok || field.Kind() != reflect.Struct {
			return err
		}
		of = field
	}
	return fmt.Errorf("%w: want %s", err, strings.Join(keysOf(of), ", "))
}

// keysOf are the keys of a table, in the order that they are told in.
func keysOf(table reflect.Type) (keys []string) {
	for i := range table.NumField() {
		if key, _, _ := strings.Cut(table.Field(i).Tag.Get("toml"), ","); key != "" {
			keys = append(keys, key)
		}
	}
	return keys
}

// fieldOf is what a key of a table holds.
func fieldOf(table reflect.Type, key string) (reflect.Type, bool) {
	for i := range table.NumField() {
		if own, _, _ := strings.Cut(table.Field(i).Tag.Get("toml"), ","); own == key {
			return table.Field(i).Type, true
		}
	}
	return nil, false
}
