//go:build !unix

package machine

func setUmask() {}
