// Package main has a shape of JSON.
package main

// shape is one.
type shape struct {
	Name string `json:"name"`
	Help string `help:"none"`
}
