// Package excerpt holds the strategy digest, which drops lines and blocks and
// joins similar lines, and the strategies built on it: build_steps, terraform
// and kubectl.
package excerpt

import "github.com/zeph-acp/zeph-acp/filter/strategy"

// Strategies are the constructors of this family by type.
var Strategies = map[string]strategy.Constructor{
	"digest":      newDigest,
	"build_steps": newBuildSteps,
	"terraform":   newTerraform,
	"kubectl":     newKubectl,
}
