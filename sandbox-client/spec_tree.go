package client

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/lnkhq/lnk-sandbox/sandbox-route/form"
)

// SpecFromTree reads and judges a spec that a TOML library decoded into maps,
// lists and values, by the same reader as [ReadSpecJSON]: unknown keys, wrong
// types, dates and fractions are refused, naming the key.
func SpecFromTree(tree map[string]any) (Spec, error) {
	var b bytes.Buffer
	if err := appendTree(jsontext.NewEncoder(&b), reflect.ValueOf(tree), 0); err != nil {
		return Spec{}, specError(err)
	}
	return ReadSpecJSON(&b)
}

// treeDepth is more than any key of a spec is deep.
const treeDepth = 16

// appendTree writes a tree as JSON.
func appendTree(w *jsontext.Encoder, v reflect.Value, depth int) error {
	for v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if depth > treeDepth {
		return form.Refuse("nested too deeply")
	}
	switch v.Kind() {
	case reflect.Map:
		return appendTable(w, v, depth)
	case reflect.Slice, reflect.Array:
		return appendList(w, v, depth)
	case reflect.String:
		return writeToken(w, jsontext.String(v.String()))
	case reflect.Bool:
		return writeToken(w, jsontext.Bool(v.Bool()))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return writeNumber(w, strconv.FormatInt(v.Int(), 10))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return writeNumber(w, strconv.FormatUint(v.Uint(), 10))
	case reflect.Float32, reflect.Float64:
		// 600.0 is a fraction too: as text it keeps its point.
		if f := v.Float(); f == math.Trunc(f) && math.Abs(f) < 1e15 {
			return writeNumber(w, strconv.FormatFloat(f, 'f', 1, 64))
		}
		return form.Refuse("a number with a fraction, which no key takes")
	case reflect.Struct:
		return form.Refuse("a date or a time, which no key takes")
	}
	return form.Refuse("a value of a kind that no key takes")
}

func appendTable(w *jsontext.Encoder, v reflect.Value, depth int) error {
	if v.Type().Key().Kind() != reflect.String {
		return form.Refuse("a table whose keys are not text")
	}
	table := map[string]reflect.Value{}
	for it := v.MapRange(); it.Next(); {
		table[it.Key().String()] = it.Value()
	}
	if err := w.WriteToken(jsontext.BeginObject); err != nil {
		return treeFault(err)
	}
	for _, name := range slices.Sorted(maps.Keys(table)) {
		if err := writeToken(w, jsontext.String(name)); err != nil {
			return form.At(name, err)
		}
		if err := appendTree(w, table[name], depth+1); err != nil {
			return form.At(name, err)
		}
	}
	return treeFault(w.WriteToken(jsontext.EndObject))
}

func appendList(w *jsontext.Encoder, v reflect.Value, depth int) error {
	if err := w.WriteToken(jsontext.BeginArray); err != nil {
		return treeFault(err)
	}
	for i := range v.Len() {
		if err := appendTree(w, v.Index(i), depth+1); err != nil {
			return form.AtIndex(i, err)
		}
	}
	return treeFault(w.WriteToken(jsontext.EndArray))
}

func writeToken(w *jsontext.Encoder, t jsontext.Token) error { return treeFault(w.WriteToken(t)) }

func writeNumber(w *jsontext.Encoder, digits string) error {
	return treeFault(w.WriteValue(jsontext.Value(digits)))
}

// treeFault is what a value is that cannot be written as JSON: text that is
// not UTF-8.
func treeFault(err error) error {
	if err == nil {
		return nil
	}
	return form.Refuse(fmt.Sprintf("cannot be read: %v", err))
}
