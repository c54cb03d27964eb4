package permission

import (
	"strings"
	"testing"
)

// One "always" covers the reading commands of a program that asks a service, and no others.
func TestServiceKey(t *testing.T) {
	for script, want := range map[string]string{
		"docker ps": "docker", "docker ps -a --format '{{.Names}}'": "docker", "docker logs --tail 50 web": "docker", "docker compose logs -f": "docker",
		"docker image inspect a/b:1": "docker", "docker images -q | head -3": "docker",
		"kubectl get pods -n x -o wide": "kubectl", "kubectl get pods,svc -A -o jsonpath='{.items}'": "kubectl", "kubectl describe pod/x": "kubectl",
		"kubectl logs deploy/x --tail=5 -c a": "kubectl", "kubectl config get-contexts": "kubectl",
		"gh pr list --state open": "gh", "gh pr view 12 --comments": "gh", "gh run view 1 --log-failed": "gh", "helm list -A": "helm",
		"systemctl status nginx --no-pager": "systemctl",
		"docker run x":                      "", "docker -H tcp://evil ps": "", "docker --config x ps": "", "docker ps --context x": "",
		"docker compose -f x logs": "",
		"docker inspect ../x":      "", "DOCKER_HOST=x docker ps": "", "docker system prune": "", "docker logs $(x)": "",
		"kubectl get --kubeconfig=evil pods": "", "kubectl --kubeconfig evil get pods": "", "kubectl get -f x": "", "kubectl get secrets": "",
		"kubectl get pods,Secrets -o yaml": "", "kubectl get --raw /x": "", "kubectl get pods -o go-template-file=x": "", "kubectl get pods --server x": "",
		"kubectl delete pod x": "", "kubectl exec x -- ls": "", "kubectl config view --raw": "", "kubectl rollout restart x": "", "kubectl get pods --as root": "",
		"kubectl logs --token x":     "",
		"gh pr view -R other/repo 1": "", "gh pr list --jq env": "", "gh pr list -t '{{env}}'": "", "gh api x": "", "gh auth token": "", "gh pr checkout 1": "",
		"gh pr view --web": "", "gh repo clone x": "", "helm get values x": "", "helm template x --post-renderer y": "",
		"systemctl stop nginx": "", "systemctl status -H host": "", "systemctl edit x": "", "./docker ps": "", "command docker ps": "",
	} {
		parsed := bash(script).Card.Script
		if got := parsed.Commands[0].AsksService(); got != want {
			t.Errorf("%s: %q, want %q", script, got, want)
		}
		if key, _ := alwaysKey(parsed.Commands[0], parsed); strings.HasPrefix(key, "reads ") != (want != "") {
			t.Errorf("%s: key %q", script, key)
		}
	}
}

// An "always" for one reading command answers the others, in the plain form too.
func TestServiceAlways(t *testing.T) {
	s := newSetup()
	s.user.give = []string{allowAlways}
	s.build()
	if s.outcome(t, bash("docker ps -a")); len(s.user.asked) != 1 {
		t.Errorf("asked %q", s.user.asked)
	}
	for script, want := range map[string]string{
		"docker images": "allow", "docker logs web | tail -5": "allow", "cd sub && docker compose ps": "allow", "docker rm x": "ask",
		"docker ps; docker rm x": "ask", "docker --config x ps": "ask", "kubectl get pods": "ask",
	} {
		if got := s.outcome(t, bash(script)); got != want {
			t.Errorf("%s: %s, want %s", script, got, want)
		}
	}
}
