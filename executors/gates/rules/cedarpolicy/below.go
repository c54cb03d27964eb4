package cedarpolicy

import (
	"strings"

	"github.com/cedar-policy/cedar-go"
	"github.com/cedar-policy/cedar-go/x/exp/ast"
	"github.com/cedar-policy/cedar-go/x/exp/eval"
)

// mayForbidBelow returns the name of a policy that may forbid the request for a file
// below its directory, "" if there is no such policy. Only the file is unknown, so
// policies about other actions or callers do not count.
func (p *Policies) mayForbidBelow(r request) string {
	env := eval.Env{Principal: r.Principal, Action: r.Action, Resource: eval.Variable("resource"), Context: r.Context, Entities: r.entities}
	for id, policy := range p.set.All() {
		if policy.Effect() != cedar.Forbid {
			continue
		}
		rest, keep := eval.PartialPolicy(env, (*ast.Policy)(policy.AST()))
		if keep && reachesBelow(rest.Resource, string(r.Resource.ID)) {
			return p.name(id)
		}
	}
	return ""
}

// reachesBelow reports whether the resource of a policy can be a file inside dir.
func reachesBelow(scope ast.IsResourceScopeNode, dir string) bool {
	switch scope := scope.(type) {
	case ast.ScopeTypeEq:
		return isBelow(scope.Entity, dir)
	case ast.ScopeTypeIn:
		return isBelow(scope.Entity, dir)
	case ast.ScopeTypeIs:
		return scope.Type == fileType
	case ast.ScopeTypeIsIn:
		return scope.Type == fileType && isBelow(scope.Entity, dir)
	}
	return true
}

// isBelow reports whether an entity is a file or directory inside dir.
func isBelow(e cedar.EntityUID, dir string) bool {
	return (e.Type == fileType || e.Type == directoryType) && strings.HasPrefix(string(e.ID), strings.TrimSuffix(dir, "/")+"/")
}
