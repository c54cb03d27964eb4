package main

import (
	"os"
	"testing"

	"github.com/zeph-acp/zeph-acp/protocol-fixtures/machine"
)

func TestMain(m *testing.M) { os.Exit(machine.Tests{M: m}.Run()) }
