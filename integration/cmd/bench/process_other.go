//go:build !linux

package main

import "time"

// processorTime is only measured on Linux.
func processorTime(int) time.Duration { return 0 }

// resident is only measured on Linux.
func resident(int) float64 { return 0 }

// proportional is only measured on Linux.
func proportional(int) float64 { return 0 }

// processTree returns the process alone.
func processTree(root int) []int { return []int{root} }

// treeTime is only measured on Linux.
func treeTime(int) time.Duration { return 0 }
