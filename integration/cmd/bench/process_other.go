//go:build !linux

package main

import "time"

// processorTime is only measured on Linux.
func processorTime(int) time.Duration { return 0 }

// resident is only measured on Linux.
func resident(int) float64 { return 0 }
