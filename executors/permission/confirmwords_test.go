package permission

import "testing"

// A wide rule does not cover commands that delete, drop or publish in other words.
func TestConfirmedWords(t *testing.T) {
	for outcome, scripts := range map[string][]string{
		"ask": {
			"helm delete x", "helm del x", "helm un x", "helm uninstall x", "docker image push a", "docker --context x image push a",
			"docker buildx build --push .", "docker buildx bake --push", "docker build --push -t a .",
			"docker compose build --push", "podman image push a", "nerdctl push a", "git checkout x", "git checkout agents/AGENTS.md", "git checkout HEAD x",
			"git checkout HEAD~1 missing.go", "git checkout '*.go'", "git checkout :/",
			"git read-tree -u HEAD", "git read-tree -mu HEAD", "unlink x", "tar czf a.tgz --remove-files plain", "zip -m a.zip x", "zip -rm a.zip x",
			"zip --move a.zip x", "rsync -a --delete plain/ other", "rsync -a --del plain/ other",
			"rsync --delete-after a b", "rsync --remove-source-files a b", "kubectl replace --force -f x", "kubectl replace -f x --force",
			"kubectl apply --prune -f x", "git credential-store get", "git credential-cache get", "git-credential-store get",
			"vsce publish", "ovsx publish", "deno publish", "lerna publish", "pnpm -r publish", "yarn workspace a publish", "pnpm --filter a publish",
			"dart pub publish", "mix hex.publish", "cargo workspaces publish", "changeset publish",
			"vercel deploy", "netlify deploy --prod", "firebase deploy", "fly deploy", "wrangler deploy", "serverless deploy", "cdk deploy",
			"gcloud app deploy", "mvn deploy", "./gradlew publish", "gradle :lib:publish", "npm run deploy",
			"npm run deploy:prod", "make deploy", "make publish-docs", "npx gh-pages-x deploy", "docker stack deploy x", "aws s3 rm s3://x",
			"aws s3 sync a s3://x --delete", "rclone purge a:b", "7z a x.7z -sdel a",
		},
		"allow": {
			"helm list", "docker image ls -q", "docker buildx build .", "git checkout topic", "git checkout -b x", "git checkout -b topic origin/topic",
			"git checkout -t origin/x", "git read-tree HEAD", "zip -r a.zip plain", "rsync -a plain/ other",
			"kubectl replace -f x", "kubectl get deploy", "kubectl rollout status deploy/x", "dotnet publish -c Release", "mkdir deploy", "cp x deploy",
			"git add deploy", "git checkout deploy", "npm run build", "make", "touch publish", "npm run dev",
			"python3 deploy.py", "tar czf a.tgz plain", "go build -o deploy", "npm run published-list",
		},
	} {
		s := steeringProject(t)
		s.cfg.Permissions = map[string][]Rule{"bash": {{Pattern: "*", Action: Allow}}}
		s.build()
		for _, script := range scripts {
			call := bashIn(s.dir, "/home/u", script)
			if got := s.outcome(t, call); got != outcome {
				t.Errorf("%-40q %s, want %s (%s)", script, got, outcome, call.Record.Rule())
			}
		}
	}
	s := newSetup()
	s.cfg.Permissions = map[string][]Rule{"bash": {{Pattern: "npm run deploy*", Action: Allow}, {Pattern: "git checkout -- *", Action: Allow},
		{Pattern: "rsync --delete *", Action: Allow}}}
	s.build()
	for _, script := range []string{"npm run deploy", "npm run deploy:prod", "git checkout -- x", "rsync --delete a b"} {
		if got := s.outcome(t, bash(script)); got != "allow" {
			t.Errorf("%q with a rule that names it: %s", script, got)
		}
	}
}
