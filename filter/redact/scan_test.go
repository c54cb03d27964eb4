package redact

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// Random text of the right shape.
const (
	hex32  = "9f2b6c0d4e7a81530bd2f4961ce8a73d"
	hex40  = "9f2b6c0d4e7a81530bd2f4961ce8a73d5f0be214"
	hex64  = hex32 + "4c1d0e9b7a6f52833eb1c0d7f94a286e"
	alnum2 = "tR7kQm2XzV9bLs4Wd8Yc"                     // 20 characters
	alnum4 = "tR7kQm2XzV9bLs4Wd8YcHn3Jf6Gp1ZaEu5KxBo0T" // 40 characters
	base88 = "q1Zc7mXr0TnVb4KdWy8LpGh2Js6FaEo9UiRkBt3MxDz5NvQwCe1HgYf7PlOu+A/jSrTkXm0bVq4WzLd9IcNyGg=="
)

// foundIn returns the masked text and the kind of each credential found.
func foundIn(t *testing.T, text string) (masked string, kinds []string) {
	t.Helper()
	s, err := NewScanner(nil)
	if err != nil {
		t.Fatal(err)
	}
	masked, found := s.Mask(text)
	for _, f := range found {
		for range f.Count {
			kinds = append(kinds, f.Kind)
		}
	}
	return masked, kinds
}

func TestCredentials(t *testing.T) {
	categories := map[string]bool{}
	for k, c := range Credentials()[:userPattern] {
		if c.Category == "" || c.Kind == "" || c.Shapes == "" {
			t.Errorf("kind %d has no category, name or shapes: %+v", k, c)
		}
		categories[c.Category] = true
	}
	if userPattern != 17 || len(categories) != 6 {
		t.Errorf("%d kinds in %d categories", userPattern, len(categories))
	}
}

// The password of a command is masked, whether its option has a name, a letter or
// only a place.
func TestScanCommands(t *testing.T) {
	for _, line := range []string{
		`keytool -import -storepass xK9mQ2vL -file a.crt`,
		`keytool -genkey -alias x -keypass xK9mQ2vL`,
		`htpasswd -b .htpasswd admin xK9mQ2vL`,
		`htpasswd -nbB admin xK9mQ2vL`,
		`curl -uadmin:xK9mQ2vL https://x.test`,
		`curl --proxy-user a:xK9mQ2vL http://x.test`,
		`openssl enc -aes-256-cbc -k xK9mQ2vL -in a`,
		`helm registry login -u x -p xK9mQ2vL reg.test`,
		`sqlcmd -S db -U sa -P xK9mQ2vL`,
		`mongosh -u a -p xK9mQ2vL --host h`,
		`smbclient //s/x -U bob%xK9mQ2vL`,
		`unzip -P xK9mQ2vL a.zip`,
		`7z x -pxK9mQ2vL a.7z`,
		`echo 'xK9mQ2vL' | sudo -S apt update`,
		`echo xK9mQ2vL | docker login -u x --password-stdin`,
		`echo 'bob:xK9mQ2vL' | chpasswd`,
		`rabbitmqctl add_user bob xK9mQ2vL`,
		`aws configure set aws_secret_access_key xK9mQ2vL`,
		`npm config set //registry.test/:_authToken xK9mQ2vL`,
		`twine upload -u __token__ -p xK9mQ2vL dist/*`,
		`influx -username a -password xK9mQ2vL`,
		`wpa_passphrase SSID xK9mQ2vL`,
		`$cred = ConvertTo-SecureString "xK9mQ2vL" -AsPlainText`,
		`snmp-server community xK9mQ2vL RO`,
		`snmpwalk -v3 -u bob -A xK9mQ2vL -X x h`,
		`ipmitool -H h -U admin -P xK9mQ2vL power status`,
		`jarsigner -storepass xK9mQ2vL x.jar a`,
		`security unlock-keychain -p xK9mQ2vL login.keychain`,
		`mosquitto_pub -u bob -P xK9mQ2vL -t x`,
		`etcdctl --user root:xK9mQ2vL get x`,
		`http -a bob:xK9mQ2vL GET x.test`,
		`sqlplus scott/xK9mQ2vL@//db.test:1521/ORCL`,
		`sqlplus -S system/xK9mQ2vL@orcl as sysdba`,
		`lftp -u bob,xK9mQ2vL ftp.x.test`,
		`docker login -u bob --password-stdin <<< xK9mQ2vL`,
		`passwd --stdin bob <<< 'xK9mQ2vL'`,
		`chpasswd <<< "bob:xK9mQ2vL"`,
		`sudo -S ls <<<xK9mQ2vL`,
		`gh auth login --with-token <<< xK9mQ2vL`,
		`echo xK9mQ2vL | gh auth login --with-token`,
		`vault login xK9mQ2vL`,
		`vault operator unseal xK9mQ2vL`,
		`cargo login xK9mQ2vL`,
		`bw login bob@x.test xK9mQ2vL`,
		`ngrok config add-authtoken xK9mQ2vL`,
		`pulumi config set --secret dbPassword xK9mQ2vL`,
		`ansible-vault encrypt_string xK9mQ2vL --name a`,
		`composer config http-basic.repo.test bob xK9mQ2vL`,
		`poetry config pypi-token.pypi xK9mQ2vL`,
		`net use Z: \\srv\share xK9mQ2vL /user:bob`,
		`nmcli dev wifi connect home password xK9mQ2vL`,
		`aws ssm put-parameter --name /db --type SecureString --value xK9mQ2vL`,
		`dotnet nuget push a.nupkg -k xK9mQ2vL`,
		`doctl auth init -t xK9mQ2vL`,
		`snmpwalk -v2c -c xK9mQ2vL h`,
		`mvn sonar:sonar -Dsonar.login=xK9mQ2vL`,
		`redis-cli config set requirepass xK9mQ2vL`,
		`xfreerdp /u:bob /p:xK9mQ2vL /v:host`,
		`bundle config gems.x.test bob:xK9mQ2vL`,
		`bundle config set --global https://gems.x.test bob:xK9mQ2vL`,
		`rclone obscure xK9mQ2vL`,
		`net user bob xK9mQ2vL /add`,
		`mysql> SET PASSWORD FOR bob = 'xK9mQ2vL';`,
		`dotnet nuget add source https://x.test -u bob -p xK9mQ2vL`,
		`gh secret set DB --body xK9mQ2vL3tRw7`,
		`vercel env add DB <<< xK9mQ2vL`,
		`psexec \\h -u bob -p xK9mQ2vL cmd`,
		`evil-winrm -i h -u bob -p xK9mQ2vL`,
		`cypher-shell -u neo4j -p xK9mQ2vL`,
		`rdesktop -u bob -p xK9mQ2vL h`,
		`crane auth login reg.test -u bob -p xK9mQ2vL`,
		`oras login -u bob -p xK9mQ2vL reg.test`,
		`tsql -H h -U u -P xK9mQ2vL`,
		`kadmin -p a -w xK9mQ2vL -q x`,
		`ldappasswd -s xK9mQ2vL uid=x`,
		`codecov -t xK9mQ2vL3tRw`,
		`plink -pw xK9mQ2vL bob@h`,
		`rar a -hpxK9mQ2vL a.rar f`,
		`unrar x -pxK9mQ2vL a.rar`,
		`java -jar jenkins-cli.jar -auth bob:xK9mQ2vL list-jobs`,
		`curl --user=bob:xK9mQ2vL https://x.test`,
		`smbclient //h/s xK9mQ2vL -U bob`,
		`mc alias set m http://h:9000 bob xK9mQ2vL`,
		`db2 connect to sample user bob using xK9mQ2vL`,
		`mysqladmin -u root password xK9mQ2vL`,
		`dotnet user-secrets set "Db:Password" xK9mQ2vL`,
		`rootpw --plaintext xK9mQ2vL`,
		`d-i passwd/root-password password xK9mQ2vL`,
		`user admin insecure-password xK9mQ2vL`,
		`stats auth admin:xK9mQ2vL`,
		`cache_peer p parent 3128 0 login=bob:xK9mQ2vL`,
		`echo 'xK9mQ2vL' | gpg --batch --passphrase-fd 0 -d f`,
		`echo xK9mQ2vL | openconnect --passwd-on-stdin h`,
		`echo -n "xK9mQ2vL" | cryptsetup open /dev/sdb x -`,
		`SSHPASS=xK9mQ2vL sshpass -e ssh h`,
		`##vso[task.setvariable variable=DbPassword;issecret=true]xK9mQ2vL`,
		`ParameterKey=DBPassword,ParameterValue=xK9mQ2vL`,
		`| db_password | xK9mQ2vL |`,
		`│ password    │ xK9mQ2vL │ bob │`,
		`| 1 | api_token | xK9mQ2vL3tRw7pZ4 |`,
	} {
		if masked, kinds := foundIn(t, "+ "+line); len(kinds) != 1 || strings.Contains(masked, "xK9mQ2vL") {
			t.Errorf("%s: masked as %s, found %v", line, masked, kinds)
		}
	}
}

// Each secret is masked, and the reported kind is right.
func TestScanFinds(t *testing.T) {
	pem := "-----BEGIN RSA PRIVATE KEY-----\n" + alnum4 + alnum2 + "Ab1+\n" + alnum4 + "/+d" + alnum2 + "Z\n" + alnum2 + "==\n-----END RSA PRIVATE KEY-----"
	body := []string{alnum4 + alnum2 + "Ab1+", alnum4 + "/+d" + alnum2 + "Z", alnum2 + "=="}
	for name, tt := range map[string]struct {
		text    string
		kind    string
		secrets []string
	}{
		"aws id":                        {"id AKIAYSHVJY65YZQUVVQL used", "aws key", []string{"AKIAYSHVJY65YZQUVVQL"}},
		"escaped by JSON":               {`"dsn":"mysql:\/\/shop:p4ss\u0026w0rd9@db\/x"`, "url password", []string{`p4ss\u0026w0rd9`}},
		"a member of JSON on two lines": {"{\"password\":\n  \"Sup3rGeheim!x9\"}", "secret", []string{"Sup3rGeheim!x9"}},
		"a quoted password with blanks": {`password = "my dog Rex 2019"`, "secret", []string{"my dog Rex 2019"}},
		"an escaped separator":          {`pass\u0077ord\u003dhunter2x9`, "secret", []string{"hunter2x9"}},
		"an argument behind a name":     {`os.Setenv("API_TOKEN", "` + alnum2 + `")`, "secret", []string{alnum2}},
		"a URL in Base64": {"  DB_URL: cG9zdGdyZXM6Ly9zaG9wOk5kODNrZlBxQGRiOjU0MzIveA==", "url password",
			[]string{"cG9zdGdyZXM6Ly9zaG9wOk5kODNrZlBxQGRiOjU0MzIveA=="}},
		"the key of a wallet": {`"privateKey":"0xb081006f7e3dfc967a64cb14028d512c9791e558e08baa7196b50ac2f8670282"`, "secret",
			[]string{"0xb081006f7e3dfc967a64cb14028d512c9791e558e08baa7196b50ac2f8670282"}},
		"aws temporary id": {"ASIAYSHVJY65YZQUVVQL", "aws key", []string{"ASIAYSHVJY65YZQUVVQL"}},
		"aws secret, env": {"AWS_SECRET_ACCESS_KEY=VFXopXZTAMEj83sCzOpWMJfR8t15ay1zUj58AOpl", "aws key",
			[]string{"VFXopXZTAMEj83sCzOpWMJfR8t15ay1zUj58AOpl"}},
		"aws secret, ini": {"aws_secret_access_key = VFXopXZTAMEj83sCzOpWMJfR8t15ay1zUj58AOpl", "aws key",
			[]string{"VFXopXZTAMEj83sCzOpWMJfR8t15ay1zUj58AOpl"}},
		"aws secret, JSON": {`  "SecretAccessKey": "VFXopXZTAMEj83sCz/pWMJfR8t15ay1zUj58+Opl",`, "aws key",
			[]string{"VFXopXZTAMEj83sCz/pWMJfR8t15ay1zUj58+Opl"}},
		"aws csv": {"AKIAYSHVJY65YZQUVVQL,VFXopXZTAMEj83sCzOpWMJfR8t15ay1zUj58AOpl", "aws key",
			[]string{"AKIAYSHVJY65YZQUVVQL", "VFXopXZTAMEj83sCzOpWMJfR8t15ay1zUj58AOpl"}},
		"aws, the line after": {"AKIAYSHVJY65YZQUVVQL\nVFXopXZTAMEj83sCzOpWMJfR8t15ay1zUj58AOpl", "aws key",
			[]string{"AKIAYSHVJY65YZQUVVQL", "VFXopXZTAMEj83sCzOpWMJfR8t15ay1zUj58AOpl"}},
		"aws presigned": {"GET https://b.s3.amazonaws.com/k?X-Amz-Expires=900&X-Amz-Signature=" + hex64 + "&x=1", "aws key", []string{hex64}},
		"google":        {"key=AIzaSyD" + alnum2 + "a1-_B2c3D4e5", "google key", []string{alnum2}},
		"google client": {`"client_secret":"GOCSPX-` + alnum2 + `aB1_9xYz"`, "google key", []string{alnum2}},
		"google access": {"ya29.a0Af" + alnum4, "google key", []string{alnum4}},
		"azure storage": {"DefaultEndpointsProtocol=https;AccountName=acct;AccountKey=" + base88 + ";EndpointSuffix=core.windows.net", "azure key",
			[]string{base88}},
		"azure bus": {"Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=" + alnum4 + "abc=", "azure key",
			[]string{alnum4}},
		"azure shared access": {"https://a.blob.core.windows.net/c?sv=2022-11-02&se=2025-01-01&sr=c&sp=r&sig=q1Zc7mXr0TnVb4KdWy8LpGh2Js6FaEo9UiRkBt3Mx%2BE%3D",
			"azure key", []string{"q1Zc7mXr0TnVb4KdWy8LpGh2Js6FaEo9UiRkBt3Mx"}},
		"azure client":  {"secret: aBc8Q~" + alnum2 + "xY1.2_z-aB3d", "azure key", []string{alnum2}},
		"digital ocean": {"dop_v1_" + hex64, "cloud token", []string{hex64}},
		"vault":         {"token                hvs.CAESI" + alnum4, "cloud token", []string{alnum4}},
		"doppler":       {"dp.pt." + alnum4, "cloud token", []string{alnum4}},
		"github":        {"remote: ghp_" + alnum2 + "tR7kQm2XzV9bLs4W", "github token", []string{alnum2}},
		"github in a URL": {"https://x:ghp_WOsW7yvSQC1UQ3cSSThJpxwTZ74h8NNp5cus@github.com/a/b", "github token",
			[]string{"ghp_WOsW7yvSQC1UQ3cSSThJpxwTZ74h8NNp5cus"}},
		"github app":     {"ghs_" + alnum2 + "tR7kQm2XzV9bLs4W", "github token", []string{alnum2}},
		"github fine":    {"github_pat_11ABCDEFG0" + alnum2 + "_" + alnum4 + "abcdefgHIJ123456789", "github token", []string{alnum2, alnum4}},
		"gitlab":         {"PRIVATE-TOKEN: glpat-" + alnum2, "gitlab token", []string{alnum2}},
		"gitlab, new":    {"glpat-" + alnum2 + "abcdEFGH12.01.0w1a2b3c4", "gitlab token", []string{alnum2}},
		"npm":            {"npm_" + alnum2 + "tR7kQm2XzV9bLs4W", "npm token", []string{alnum2}},
		"npmrc":          {"//registry.npmjs.org/:_authToken=" + hex32, "npm token", []string{hex32}},
		"npmrc, old":     {"//r.example.test/:_password=c3VwM3JzM2NyM3Q0Nw==", "secret", []string{"c3VwM3JzM2NyM3Q0Nw=="}},
		"pypi":           {"password = pypi-AgEIcHlwaS5vcmcC" + alnum4 + "x", "registry token", []string{alnum4}},
		"docker":         {"dckr_pat_" + alnum2 + "aB1-cD2", "registry token", []string{alnum2}},
		"openai":         {"OPENAI_API_KEY=sk-" + alnum2 + "T3BlbkFJ" + alnum2, "ai key", []string{alnum2}},
		"openai project": {"sk-proj-" + alnum4 + "-" + alnum4 + "_T3BlbkFJ" + alnum2, "ai key", []string{alnum4}},
		"anthropic":      {"sk-ant-api03-" + alnum4 + "-" + alnum4 + "AA", "ai key", []string{alnum4}},
		"hugging face":   {"hf_" + alnum2 + "tRkQmXzVbLsWdY", "ai key", []string{alnum2}},
		"groq":           {"gsk_" + alnum4 + "WGdyb3FY", "ai key", []string{alnum4}},
		"vercel":         {"vcp_" + alnum4, "cloud token", []string{alnum4}},
		"neon":           {"napi_" + alnum4 + alnum2, "cloud token", []string{alnum4}},
		"cloudflare":     {"v1.0-" + hex32[:24] + "-" + hex64 + hex64 + "5f0be2149f2b6c0d4e", "cloud token", []string{hex64}},
		"azure devops":   {alnum4 + alnum4[:36] + "AZDO" + alnum2[:4], "azure key", []string{alnum4[:36]}},
		"azure ai":       {alnum4 + alnum2[:12] + "JQQJ99" + alnum2 + "BAx9dE", "azure key", []string{alnum4, "BAx9dE"}},
		"github in Base64": {"value: Z2hwX2dFc25LUDh3NWVlVERQNVJGQlhtT3dJd3RDNjhXRURVT093Yg==", "github token",
			[]string{"Z2hwX2dFc25LUDh3NWVlVERQNVJGQlhtT3dJd3RDNjhXRURVT093Yg"}},
		"jfrog":               {"AKCp" + alnum4 + alnum2 + "aB1cD2eF3", "registry token", []string{alnum4}},
		"gemini":              {"AQ.Ab8RN6" + alnum4 + "aB1-", "ai key", []string{alnum4}},
		"langsmith":           {"lsv2_pt_" + hex32 + "_a1181b505b", "ai key", []string{hex32}},
		"snyk":                {"snyk_uat.abfffa21." + alnum4 + alnum4, "service key", []string{alnum4}},
		"posthog":             {"phx_" + alnum4 + "aB1", "service key", []string{alnum4}},
		"a sentence of a log": {`Connecting with password "` + alnum2 + `" to db`, "secret", []string{alnum2}},
		"slack":               {"xoxb-123456789012-1234567890123-" + alnum2 + "aB1c", "chat token", []string{alnum2}},
		"slack webhook":       {"https://hooks.slack.com/services/T01ABCDEF/B02GHIJKL/" + alnum2 + "aB1c", "chat token", []string{alnum2}},
		"discord webhook":     {"https://discord.com/api/webhooks/123456789012345678/" + alnum4 + alnum2, "chat token", []string{alnum4}},
		"discord bot":         {"MTE4NzY1NDMyMTA5ODc2NTQz.GxYz1a." + alnum2 + "tR7kQm2XzV9bLs4Wd8", "chat token", []string{alnum2}},
		"telegram":            {"bot 7412589630:AAHd9_" + alnum2 + "aB1cD2eF3", "chat token", []string{alnum2}},
		"stripe":              {`+STRIPE_KEY = "sk_live_o9dgEbIyjvbl5TxfunRURNRf"`, "payment key", []string{"sk_live_o9dgEbIyjvbl5TxfunRURNRf"}},
		"stripe restricted":   {"rk_live_" + alnum4, "payment key", []string{alnum4}},
		"stripe test":         {"sk_test_51H" + alnum4, "payment key", []string{alnum4}},
		"stripe webhook":      {"whsec_" + alnum4, "payment key", []string{alnum4}},
		"shopify":             {"shpat_" + hex32, "payment key", []string{hex32}},
		"sendgrid":            {"SG." + alnum2 + "aB." + alnum4 + "xYz", "service key", []string{alnum4}},
		"twilio":              {"key SK" + hex32, "service key", []string{hex32}},
		"grafana":             {"glsa_" + alnum2 + "aB1cD2eF3gH4_1a2b3c4d", "service key", []string{alnum2}},
		"RSA":                 {pem, "private key", body},
		"RSA, indented":       {"  key: |\n    " + strings.ReplaceAll(pem, "\n", "\n    "), "private key", body},
		"RSA, of a diff":      {"+" + strings.ReplaceAll(pem, "\n", "\n+"), "private key", body},
		"RSA, numbered": {"1\t" + strings.NewReplacer("\n"+body[0], "\n2\t"+body[0], "\n"+body[1], "\n3\t"+body[1], "\n"+body[2], "\n4\t"+body[2],
			"\n--", "\n5\t--").Replace(pem), "private key", body},
		"RSA, of a container": {"api-1  | " + strings.ReplaceAll(pem, "\n", "\napi-1  | "), "private key", body},
		"RSA, of grep":        {"a/k.pem:1:" + strings.ReplaceAll(pem, "\n", "\na/k.pem-2-"), "private key", body},
		"RSA, JSON":           {`{"private_key": "` + strings.ReplaceAll(pem, "\n", `\n`) + `\n", "x": 1}`, "private key", body},
		"RSA, JSON in JSON":   {`{"a":"{\"private_key\": \"` + strings.ReplaceAll(pem, "\n", `\\n`) + `\\n\"}"}`, "private key", body},
		"RSA, strings":        {`"` + strings.ReplaceAll(pem, "\n", "\\n\" +\n    \"") + `"`, "private key", body},
		"RSA, CR LF":          {strings.ReplaceAll(pem, "\n", "\r\n"), "private key", body},
		"RSA, encrypted": {strings.Replace(pem, "KEY-----\n", "KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0011\n\n", 1), "private key",
			body},
		"RSA, no end":          {strings.Split(pem, body[2])[0], "private key", body[:2]},
		"RSA, no begin":        {pem[strings.Index(pem, "\n")+1:], "private key", body},
		"RSA, no begin, CR LF": {strings.ReplaceAll(pem[strings.Index(pem, "\n")+1:], "\n", "\r\n"), "private key", body},
		"RSA, only the end":    {pem[strings.Index(pem, body[1])+30:], "private key", []string{body[1][30:], body[2]}},
		"RSA, the end of JSON": {`x` + body[0] + `\n` + body[1] + `\n-----END RSA PRIVATE KEY-----\n"}`, "private key", body[:2]},
		"OPENSSH":              {strings.ReplaceAll(pem, "RSA", "OPENSSH"), "private key", body},
		"EC":                   {strings.ReplaceAll(pem, "RSA", "EC"), "private key", body},
		"PKCS 8":               {strings.ReplaceAll(pem, "RSA ", ""), "private key", body},
		"PKCS 8, encrypted":    {strings.ReplaceAll(pem, "RSA", "ENCRYPTED"), "private key", body},
		"PGP": {strings.NewReplacer("RSA PRIVATE KEY-----\n"+body[0], "PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2\n\n"+body[0],
			"RSA PRIVATE KEY", "PGP PRIVATE KEY BLOCK", "==", "==\n=aB1c").Replace(pem), "private key", body},
		"PEM in Base64": {"client-key-data: LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQp" + alnum4, "private key", []string{alnum4}},
		"age": {"AGE-SECRET-KEY-1QYQSZQGPQYQSZQGPQYQSZQGPQYQSZQGPQYQSZQGPQYQSZQGPQYQSXWHFX3", "private key",
			[]string{"QYQSZQGPQYQSZQGPQYQSZQGPQYQ"}},
		"PuTTY":        {"Private-Lines: 2\n" + body[0] + "\n" + body[1] + "\nPrivate-MAC: 12", "private key", body[:2]},
		"JSON web key": {`{"kty":"EC","crv":"P-256","x":"abc","d":"` + alnum4 + `"}`, "private key", []string{alnum4}},
		"JWT": {"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiAiWU9OUVJQSjgiLCAiaWF0Ijog.N8goj9Y7nwgkratxT2iaKVmyz0Z", "session token",
			[]string{"N8goj9Y7nwgkratxT2iaKVmyz0Z", "eyJzdWIiOiAiWU9OUVJQSjgiLCAiaWF0Ijog"}},
		"cookie":                   {"< Set-Cookie: sessionid=" + alnum4 + "; HttpOnly; Path=/", "session token", []string{alnum4}},
		"cookie, sent":             {"> Cookie: theme=dark; JSESSIONID=" + hex32, "session token", []string{hex32}},
		"bearer":                   {"> Authorization: Bearer " + alnum4, "authorization", []string{alnum4}},
		"bearer, JSON":             {`"Authorization": "Bearer ` + alnum4 + `"`, "authorization", []string{alnum4}},
		"bearer, small":            {"authorization: bearer " + alnum4, "authorization", []string{alnum4}},
		"bearer, curl":             {"curl -H 'Authorization: Bearer " + alnum4 + "' https://x.test", "authorization", []string{alnum4}},
		"bearer, alone":            {"sending Bearer " + alnum4 + " to x", "authorization", []string{alnum4}},
		"basic":                    {"> Authorization: Basic ZGV2OnczYlBAc3M0N3dPcmQ=", "authorization", []string{"ZGV2OnczYlBAc3M0N3dPcmQ="}},
		"no scheme":                {"Authorization: " + hex40, "authorization", []string{hex40}},
		"postgres":                 {"ERROR cannot connect to postgres://app:wRXPKasLtWSrnA@db:5432/app", "url password", []string{"wRXPKasLtWSrnA"}},
		"redis":                    {"redis://:k3yB0ard@cache:6379/0", "url password", []string{"k3yB0ard"}},
		"mongodb":                  {`"mongodb+srv://u:Xy1%40zQ9@c0.mongodb.net/db?retryWrites=true"`, "url password", []string{"Xy1%40zQ9"}},
		"amqp":                     {"amqp://svc:Tr0ub4dor&3@mq/vh", "url password", []string{"Tr0ub4dor&3"}},
		"a password with a slash":  {"postgres://app:wR/XP7aLt@db:5432/app", "url password", []string{"wR/XP7aLt"}},
		"a password with a sign":   {"postgres://app:wR@XP7aLt@db:5432/app", "url password", []string{"wR@XP7aLt"}},
		"a word in a URL":          {"mysql://app:swordfish@db/app", "url password", []string{"swordfish"}},
		"a token in a URL":         {"https://" + hex40 + "@git.example.test/a.git", "url password", []string{hex40}},
		"env":                      {"DB_PASSWORD=hunter2", "secret", []string{"hunter2"}},
		"env, a word":              {"DB_PASSWORD=swordfish", "secret", []string{"swordfish"}},
		"env, marks":               {"export DB_PASSWORD='p4;s&w(r)d'", "secret", []string{"p4;s&w(r)d"}},
		"env, odd bytes":           {"MYSQL_ROOT_PASSWORD=a&b;c(1)d|e", "secret", []string{"a&b;c(1)d|e"}},
		"env, docker":              {"docker run -e POSTGRES_PASSWORD=xK9mQ2vL postgres", "secret", []string{"xK9mQ2vL"}},
		"env, a log":               {"12:00:01 env: DB_PASS=xK9mQ2vL DB_HOST=db", "secret", []string{"xK9mQ2vL"}},
		"env, a vendor's key":      {"MAPBOX_KEY=" + alnum4, "secret", []string{alnum4}},
		"env, a number behind":     {"API_KEY_2=" + alnum2, "secret", []string{alnum2}},
		"env, a vendor behind":     {"TOKEN_ACME=" + alnum2, "secret", []string{alnum2}},
		"rails":                    {"SECRET_KEY_BASE=" + hex64 + hex64, "secret", []string{hex64}},
		"django":                   {"SECRET_KEY = 'django-insecure-3!x&y^2k#0qz$w9(v_8p=7m)n'", "secret", []string{"3!x&y^2k#0qz$w9(v_8p=7m)n"}},
		"YAML":                     {"  password: xK9mQ2vL", "secret", []string{"xK9mQ2vL"}},
		"YAML, quoted":             {"  api_key: \"" + alnum2 + "\"", "secret", []string{alnum2}},
		"YAML, kubernetes":         {"- name: DB_PASSWORD\n  value: xK9mQ2vL", "secret", []string{"xK9mQ2vL"}},
		"JSON":                     {`{"user":"a","token": "` + alnum2 + `","x":1}`, "secret", []string{alnum2}},
		"JSON, escaped":            {`"{\"password\":\"xK9mQ2vL\",\"x\":1}"`, "secret", []string{"xK9mQ2vL"}},
		"JSON, camel":              {`"clientSecret": "` + alnum2 + `"`, "secret", []string{alnum2}},
		"JSON, name and value":     {`{"name":"API_TOKEN","value":"` + alnum2 + `"}`, "secret", []string{alnum2}},
		"TOML":                     {"secret_key = \"" + alnum2 + "\"", "secret", []string{alnum2}},
		"Go":                       {"	apiKey := \"" + alnum2 + "\"", "secret", []string{alnum2}},
		"Go, typed":                {"const password string = \"xK9mQ2vL\"", "secret", []string{"xK9mQ2vL"}},
		"TypeScript, typed":        {"  private password: string = 'xK9mQ2vL';", "secret", []string{"xK9mQ2vL"}},
		"Ruby":                     {"  :password => 'xK9mQ2vL',", "secret", []string{"xK9mQ2vL"}},
		"PHP":                      {"$_ENV['DB_PASSWORD'] = 'xK9mQ2vL';", "secret", []string{"xK9mQ2vL"}},
		"Python, bytes":            {"SECRET = b'" + alnum2 + "'", "secret", []string{alnum2}},
		"XML":                      {"<password>xK9mQ2vL</password>", "secret", []string{"xK9mQ2vL"}},
		"XML, attributes":          {`<add key="ApiKey" value="` + alnum2 + `" />`, "secret", []string{alnum2}},
		"plist":                    {"<key>apiToken</key>\n<string>" + alnum2 + "</string>", "secret", []string{alnum2}},
		"ADO":                      {`"Server=db;Database=x;User Id=sa;Password=xK9mQ2vL;Encrypt=true"`, "secret", []string{"xK9mQ2vL"}},
		"JDBC":                     {"jdbc:postgresql://db/x?user=u&password=xK9mQ2vL&ssl=true", "secret", []string{"xK9mQ2vL"}},
		"query":                    {"GET /v1?access_token=" + alnum2 + "&page=2 200", "secret", []string{alnum2}},
		"jupyter":                  {"http://localhost:8888/tree?token=" + hex40 + "12345678", "secret", []string{hex40}},
		"header":                   {"> X-Api-Key: " + alnum2, "secret", []string{alnum2}},
		"header, odd":              {"x-auth-token: " + hex32, "secret", []string{hex32}},
		"option":                   {"+ deploy --password xK9mQ2vL --user x", "secret", []string{"xK9mQ2vL"}},
		"option, equals":           {"+ deploy --api-token=" + alnum2, "secret", []string{alnum2}},
		"option, a list":           {`["login", "--password", "xK9mQ2vL"]`, "secret", []string{"xK9mQ2vL"}},
		"curl -u":                  {"+ curl -s -u dev:xK9mQ2vL https://x.test", "secret", []string{"xK9mQ2vL"}},
		"sshpass":                  {"sshpass -p xK9mQ2vL ssh x", "secret", []string{"xK9mQ2vL"}},
		"mysql -p":                 {"mysqldump -uroot -pxK9mQ2vL db", "secret", []string{"xK9mQ2vL"}},
		"netrc":                    {"machine x.test login dev password xK9mQ2vL", "secret", []string{"xK9mQ2vL"}},
		"netrc, lines":             {"machine x.test\n  login dev\n  password swordfish", "secret", []string{"swordfish"}},
		"pgpass":                   {"db.example.test:5432:app:dev:xK9mQ2vL", "secret", []string{"xK9mQ2vL"}},
		"shadow":                   {"dev:$6$rounds=5000$Ab1cD2eF$" + alnum4 + alnum4 + ":19000:0:99999:7:::", "secret", []string{alnum4}},
		"SQL":                      {"CREATE USER dev WITH PASSWORD 'xK9mQ2vL';", "secret", []string{"xK9mQ2vL"}},
		"SQL, MySQL with a plugin": {"CREATE USER 'dev' IDENTIFIED WITH mysql_native_password BY 'xK9mQ2vL';", "secret", []string{"xK9mQ2vL"}},
		"a state of Terraform": {"\"type\": \"random_password\",\n\"name\": \"db\",\n\"attributes\": {\n\"length\": 20,\n\"result\": \"" + alnum2 + "\"",
			"secret", []string{alnum2}},
		"az login":        {"az login --service-principal -u id -p " + alnum2 + " --tenant t", "secret", []string{alnum2}},
		"ldapsearch":      {"+ ldapsearch -x -D cn=admin -w " + alnum2 + " -b dc=x", "secret", []string{alnum2}},
		"SQL, MySQL":      {"CREATE USER 'dev' IDENTIFIED BY 'xK9mQ2vL';", "secret", []string{"xK9mQ2vL"}},
		"MySQL installed": {"[Note] A temporary password is generated for root@localhost: k!3sQw;Zx9Lp", "secret", []string{"k!3sQw;Zx9Lp"}},
		"a table":         {"username    dev\npassword    A1a-xK9mQ2vLtR7k", "secret", []string{"A1a-xK9mQ2vLtR7k"}},
		"vault unseal":    {"Unseal Key 1: " + alnum4 + "aB1=", "secret", []string{alnum4}},
		"two words": {"Secret Access Key: VFXopXZTAMEj83sCzOpWMJfR8t15ay1zUj58AOpl", "aws key",
			[]string{"VFXopXZTAMEj83sCzOpWMJfR8t15ay1zUj58AOpl"}},
		"API key":                     {"API key: " + alnum2, "secret", []string{alnum2}},
		"bcrypt":                      {"password_hash: x\npassword: $2b$12$" + alnum4 + "abcdefgH12345", "secret", []string{alnum4}},
		"docker config":               {`"auth": "ZGV2OnczYlBAc3M0N3dPcmQ="`, "secret", []string{"ZGV2OnczYlBAc3M0N3dPcmQ="}},
		"a call":                      {`client.withToken("` + alnum2 + `")`, "secret", []string{alnum2}},
		"words in JSON":               {`"password": "correct horse battery staple"`, "secret", []string{"correct horse battery staple"}},
		"words with marks":            {`"password": "correct-horse-battery-staple"`, "secret", []string{"correct-horse-battery-staple"}},
		"blanks, env":                 {`declare -x DB_PASSWORD="Summer Rain 2024"`, "secret", []string{"Summer Rain 2024"}},
		"blanks, a log":               {`msg=x password="s3cr3t Pa55!" host=db`, "secret", []string{"s3cr3t Pa55!"}},
		"a quote of a shell":          {`DB_PASSWORD='it'\''s9secret8'`, "secret", []string{"s9secret8"}},
		"compose":                     {"      POSTGRES_PASSWORD: swordfish", "secret", []string{"swordfish"}},
		"compose, quoted":             {`      POSTGRES_PASSWORD: "swordfish"`, "secret", []string{"swordfish"}},
		"YAML, a year behind":         {"password: SummerRain2024", "secret", []string{"SummerRain2024"}},
		"YAML, a block":               {"password: |\n  s3cr3tPa55", "secret", []string{"s3cr3tPa55"}},
		"of an account":               {`"db_password": "swordfish"`, "secret", []string{"swordfish"}},
		"a joke of a password in one": {`password="S3cr3t-P@ssword-99!"`, "secret", []string{"S3cr3t-P@ssword-99!"}},
		"JSON in JSON in JSON":        {`{\\\"password\\\":\\\"hunter2\\\"}`, "secret", []string{"hunter2"}},
		"a URL in a URL":              {"body=password%3Dhunter2x%26x%3D1", "secret", []string{"hunter2x"}},
		"JSON in a URL":               {"%7B%22password%22%3A%22hunter2x%22%7D", "secret", []string{"hunter2x"}},
		"form":                        {"username=dev&password=swordfish&remember=1", "secret", []string{"swordfish"}},
		"ADO, a word":                 {`"Data Source=db;User ID=sa;Password=swordfish;"`, "secret", []string{"swordfish"}},
		"ODBC":                        {"Driver={x};Server=db;UID=app;PWD=s3cr3tPa55", "secret", []string{"s3cr3tPa55"}},
		"libpq":                       {"host=db user=app password=swordfish dbname=x", "secret", []string{"swordfish"}},
		"Oracle":                      {"jdbc:oracle:thin:scott/t1ger99@db:1521:xe", "url password", []string{"t1ger99"}},
		"SQL Server":                  {"CREATE LOGIN app WITH PASSWORD = N's3cr3tPa55';", "secret", []string{"s3cr3tPa55"}},
		"Rust":                        {`Config { password: Some("s3cr3tPa55") }`, "secret", []string{"s3cr3tPa55"}},
		"Rust, lines":                 {"  password: Some(\n        \"s3cr3tPa55\",\n", "secret", []string{"s3cr3tPa55"}},
		"PHP, dumped":                 {"[\"password\"]=>\n  string(10) \"s3cr3tPa55\"", "secret", []string{"s3cr3tPa55"}},
		"WordPress":                   {"define( 'AUTH_KEY',         '($9ll-k%i0m0pvqfqlwzc(*@-ccnv55^(newrvf37v' );", "secret", []string{"ll-k%i0m0pvqfqlwzc"}},
		"Node, else":                  {"password: process.env.DB_PASSWORD || 's3cr3tPa55',", "secret", []string{"s3cr3tPa55"}},
		"Python, auth":                {"requests.get(url, auth=('dev', 's3cr3tPa55'))", "secret", []string{"s3cr3tPa55"}},
		"nodemailer":                  {`auth: { user: "a", pass: "xK9mQ2vLtR7" }`, "secret", []string{"xK9mQ2vLtR7"}},
		"Gradle":                      {`    storePassword "s3cr3tPa55"`, "secret", []string{"s3cr3tPa55"}},
		"Dockerfile":                  {"ENV DB_PASSWORD s3cr3tPa55", "secret", []string{"s3cr3tPa55"}},
		"psql":                        {" id       | 1\n password | s3cr3tPa55", "secret", []string{"s3cr3tPa55"}},
		"a hash in a table":           {" 1 | dev | $2b$12$" + alnum4 + "abcdefgH12345", "secret", []string{alnum4}},
		"Hibernate":                   {`<property name="hibernate.connection.password">s3cr3tPa55</property>`, "secret", []string{"s3cr3tPa55"}},
		"XML, a word":                 {"<password>swordfish</password>", "secret", []string{"swordfish"}},
		"curl --user":                 {"curl --user 'dev:xK9mQ2vL' https://x.test", "secret", []string{"xK9mQ2vL"}},
		"a key of WiFi":               {`psk="s3cr3tPa55"`, "secret", []string{"s3cr3tPa55"}},
		"Ansible":                     {"ansible_become_pass: s3cr3tPa55", "secret", []string{"s3cr3tPa55"}},
		"Jenkins":                     {"Please use the following password to proceed to installation:\n\n" + hex32, "secret", []string{hex32}},
		"JWT secret":                  {"JWT_SECRET=thisIsMyJwtSigningKey2024", "secret", []string{"thisIsMyJwtSigningKey2024"}},
		"env, a UUID":                 {"SNYK_TOKEN=9f2b6c0d-4e7a-4153-8bd2-f4961ce8a73d", "secret", []string{"9f2b6c0d-4e7a-4153-8bd2-f4961ce8a73d"}},
		"npmrc, a UUID": {`//r.example.test/:_authToken="9f2b6c0d-4e7a-4153-8bd2-f4961ce8a73d"`, "npm token",
			[]string{"9f2b6c0d-4e7a-4153-8bd2-f4961ce8a73d"}},
		"a prefix of hex":    {"sonar.token=squ_" + hex40, "registry token", []string{hex40}},
		"hex behind letters": {"DATABRICKS_TOKEN=dapi" + hex32, "cloud token", []string{hex32}},
		"consul":             {"SecretID:         368b23ff-8500-4f17-8f4b-4ca1b570e2e6", "secret", []string{"368b23ff-8500"}},
		"vault, approle":     {`{"secret_id": "368b23ff-8500-4f17-8f4b-4ca1b570e2e6"}`, "secret", []string{"368b23ff-8500"}},
		"databricks, bare":   {"using dapi" + hex32, "cloud token", []string{hex32}},
		"openrouter":         {"sk-or-v1-" + hex64, "ai key", []string{hex64}},
		"slack app":          {"xapp-1-A23SHW3H3DT-2534313245088-" + hex64, "chat token", []string{hex64}},
		"vault, old":         {"X-Vault-Token: s." + alnum2 + "Ab12", "secret", []string{alnum2}},
		"terraform cloud":    {"tR7kQm2XzV9bLs.atlasv1." + alnum4 + alnum4, "cloud token", []string{"tR7kQm2XzV9bLs", alnum4}},
		"mailchimp":          {"key " + hex32 + "-us12", "service key", []string{hex32}},
		"teams webhook":      {"https://x.webhook.office.com/webhookb2/9f2b6c0d-4e7a-4153-8bd2-f4961ce8a73d@9f2b6c0d-4e7a-4153-8bd2-f4961ce8a73d/IncomingWebhook/" + hex32, "chat token", []string{hex32}},
		"docker secret": {".dockerconfigjson: eyJhdXRocyI6eyJnaGNyLmlvIjp7InVzZXJuYW1lIjoiZGV2IiwicGFzc3dvcmQiOiJ4SzltUTJ2TCJ9fX0=",
			"registry token", []string{"IjoiZGV2IiwicGFzc3dvcmQiOiJ4SzltUTJ2TCJ9fX0"}},
		"azure keys, listed": {"    \"keyName\": \"key1\",\n    \"permissions\": \"FULL\",\n    \"value\": \"" + base88 + "\"", "secret", []string{base88}},
		"azure, primary":     {`"primaryKey": "` + alnum4 + `abc="`, "secret", []string{alnum4}},
		"aws, signed": {"authorization: AWS4-HMAC-SHA256 Credential=x/20250101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=" + hex64,
			"aws key", []string{hex64}},
		"digest":                   {`Authorization: Digest username="dev", uri="/", response="` + hex32 + `"`, "authorization", []string{hex32}},
		"a user that is the token": {"https://" + hex40 + ":x-oauth-basic@git.example.test/a.git", "url password", []string{hex40}},
		"Django":                   {"EMAIL_HOST_PASSWORD = 'Zx9-kLm2'", "secret", []string{"Zx9-kLm2"}},
		"RabbitMQ":                 {"RABBITMQ_DEFAULT_PASS=Zx9-kLm2", "secret", []string{"Zx9-kLm2"}},
		"LDAP":                     {"bindpw: Zx9-kLm2", "secret", []string{"Zx9-kLm2"}},
		"a DSN of Go":              {`dsn="app:Zx9kLm2q@tcp(db:3306)/x?parseTime=true"`, "url password", []string{"Zx9kLm2q"}},
		"headers of Go":            {"map[Accept:[*/*] X-Api-Key:[" + alnum2 + "]]", "secret", []string{alnum2}},
		"spew of Go":               {` Token: (string) (len=20) "` + alnum2 + `",`, "secret", []string{alnum2}},
		"ADO, braces":              {"Server=db;User ID=sa;Password=Zx{81}yy9;Encrypt=True", "secret", []string{"Zx{81}yy9"}},
		"a sentence":               {"Your token is: " + alnum2, "secret", []string{alnum2}},
		"Terraform, output": {"  \"db_password\": {\n    \"sensitive\": true,\n    \"type\": \"string\",\n    \"value\": \"s3cr3tPa55\"", "secret",
			[]string{"s3cr3tPa55"}},
		"Terraform, variable": {"variable \"db_password\" {\n  type = string\n  default = \"s3cr3tPa55\"\n}", "secret", []string{"s3cr3tPa55"}},
		"Terraform, plan":     {`  ~ password = "oldS3cr3t9" -> "newS3cr3t8"`, "secret", []string{"oldS3cr3t9", "newS3cr3t8"}},
		"kubeadm": {"kubeadm join x --token q7x2kd.zf57c0483uzxiuoq --discovery-token-ca-cert-hash sha256:" + hex64, "secret",
			[]string{"zf57c0483uzxiuoq"}},
		"CSV": {"id,username,password,email\n1,bob,xK9mQ2vL,b@x.test\n2,al,\"x,K9mQ2vM\",a@x.test", "secret",
			[]string{"xK9mQ2vL", "x,K9mQ2vM"}},
		"CSV, tabs":       {"user\tpassword\nbob\txK9mQ2vL", "secret", []string{"xK9mQ2vL"}},
		"a table of psql": {" user | password \n------+----------\n bob  | xK9mQ2vL\n al   | xK9mQ2vM", "secret", []string{"xK9mQ2vL", "xK9mQ2vM"}},
		"a table of mysql": {"+------+----------+\n| user | password |\n+------+----------+\n| bob  | xK9mQ2vL |\n+------+----------+", "secret",
			[]string{"xK9mQ2vL"}},
		"a table of Markdown": {"| user | api_token |\n|---|:---|\n| bob | xK9mQ2vL3tRw7pZ4 |", "secret", []string{"xK9mQ2vL3tRw7pZ4"}},
		"a drawn table": {"│ user │ password │ age │\n├──────┼──────────┼─────┤\n│ bob " +
			" │ xK9mQ2vL │ 3   │", "secret", []string{"xK9mQ2vL"}},
		"SQL, rows": {"INSERT INTO users (name, password) VALUES ('bob', 'xK9mQ2vL'), ('a)l', 'xK9mQ2vM'),\n ('eve', 'xK9mQ2vN');", "secret",
			[]string{"xK9mQ2vL", "xK9mQ2vM", "xK9mQ2vN"}},
		"SQL, a copy":            {"COPY public.users (id, name, password) FROM stdin;\n1\tbob\txK9mQ2vL\n\\.", "secret", []string{"xK9mQ2vL"}},
		"redis, a login":         {"127.0.0.1:6379> AUTH default xK9mQ2vL", "secret", []string{"xK9mQ2vL"}},
		"XML, a name space":      {`<wsse:Password Type="x#PasswordText">xK9mQ2vL</wsse:Password>`, "secret", []string{"xK9mQ2vL"}},
		"XML, a section":         {`<password><![CDATA[xK9mQ2vL]]></password>`, "secret", []string{"xK9mQ2vL"}},
		"XML, an element inside": {"<Password>\n  <Value>xK9mQ2vL</Value>", "secret", []string{"xK9mQ2vL"}},
		"YAML, an anchor":        {"password: &pw xK9mQ2vL", "secret", []string{"xK9mQ2vL"}},
		"YAML, a tag":            {"password: !!str xK9mQ2vL", "secret", []string{"xK9mQ2vL"}},
		"TOML, lines":            {`password = """xK9mQ2vL"""`, "secret", []string{"xK9mQ2vL"}},
		"Visual Basic":           {`Const PASSWORD As String = "xK9mQ2vL"`, "secret", []string{"xK9mQ2vL"}},
		"Clojure":                {`{:db {:pass "xK9mQ2vLtR7"}}`, "secret", []string{"xK9mQ2vLtR7"}},
		"a place in a name":      {`output.elasticsearch.password: "xK9mQ2vL"`, "secret", []string{"xK9mQ2vL"}},
		"LDIF":                   {"userPassword:: eEs5bVEydkw=", "secret", []string{"eEs5bVEydkw="}},
		"LDAP, a hash":           {"userPassword: {SSHA}q1Zc7mXr0TnVb4KdWy8LpGh2Js6FaEo9", "secret", []string{"q1Zc7mXr0TnVb4KdWy8LpGh2Js6FaEo9"}},
		"a header of nginx":      {`proxy_set_header X-Api-Key "` + alnum2 + `";`, "secret", []string{alnum2}},
		"authorization of nginx": {`proxy_set_header Authorization "Basic Ym9iOkhiOXlwencjNEVr";`, "authorization", []string{"Ym9iOkhiOXlwencjNEVr"}},
		"a key of BIND": {`  secret "q1Zc7mXr0TnVb4KdWy8LpGh2Js6FaEo9UiRkBt3MxDw=";`, "secret",
			[]string{"q1Zc7mXr0TnVb4KdWy8LpGh2Js6FaEo9UiRkBt3MxDw="}},
		"a setting of Fluentd": {"  shared_key " + alnum2, "secret", []string{alnum2}},
		"a preshared key":      {`%any : PSK "xK9mQ2vLtR7"`, "secret", []string{"xK9mQ2vLtR7"}},
		"a call of JDBC":       {`DriverManager.getConnection(url, "root", "xK9mQ2vL")`, "secret", []string{"xK9mQ2vL"}},
		"a trace of PHP":       {`#0 /a.php(3): PDO->__construct('mysql:host=h', 'root', 'xK9mQ2vL')`, "secret", []string{"xK9mQ2vL"}},
		"a form":               {"Content-Disposition: form-data; name=\"password\"\n\nxK9mQ2vLtR7", "secret", []string{"xK9mQ2vLtR7"}},
		"a file of cookies":    {"x.test\tFALSE\t/\tTRUE\t0\tsessionid\t" + alnum2, "session token", []string{alnum2}},
		"JSON in Base64": {"eyJ1c2VyIjoiYm9iIiwicGFzc3dvcmQiOiJtVzJlZmFzITVSayJ9", "secret",
			[]string{"eyJ1c2VyIjoiYm9iIiwicGFzc3dvcmQiOiJtVzJlZmFzITVSayJ9"}},
		"a .env in Base64": {"DOTENV=REJfVVNFUj1hCkRCX1BBU1NXT1JEPXRSNGZwbWheNFF6Cg==", "secret",
			[]string{"REJfVVNFUj1hCkRCX1BBU1NXT1JEPXRSNGZwbWheNFF6Cg=="}},
		"RSA, lines of Base64": {"tls.key: |\n  LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tCnRSN2tRbTJYelY5YkxzNFdkOFljSG4zSmY2R3Ax\n  " +
			"WmFFdTVLeEJvMHRSN2tRbTJYelY5YkxzNFdkOFljSG4zSmY2R3AxWmFFdTVLeEJvMHRSN2tRbTJY\n", "private key",
			[]string{"CnRSN2tRbTJYelY5YkxzNFdkOFljSG4zSmY2R3Ax", "WmFFdTVLeEJvMHRSN2tRbTJYelY5YkxzNFdkOFljSG4zSmY2R3AxWmFFdTVLeEJvMHRSN2tRbTJY"}},
		"OpenSSH, no begin": {"b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW", "private key",
			[]string{"AAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW"}},
		"brevo":                     {"xkeysib-" + hex64 + "-" + alnum2[:16], "service key", []string{hex64}},
		"aiven":                     {"AVNS_" + alnum2[:15], "cloud token", []string{alnum2[:15]}},
		"a colour before":           {"\x1b[32mghp_" + alnum2 + "tR7kQm2XzV9bLs4W\x1b[0m", "github token", []string{alnum2}},
		"a line end of JSON before": {`{"log":"x\nghp_` + alnum2 + `tR7kQm2XzV9bLs4W\n"}`, "github token", []string{alnum2}},
		"encoded before":            {"t%3Dghp_" + alnum2 + "tR7kQm2XzV9bLs4W", "github token", []string{alnum2}},
	} {
		t.Run(name, func(t *testing.T) {
			got, kinds := foundIn(t, tt.text)
			if !slices.Contains(kinds, tt.kind) {
				t.Errorf("found %q, want %s:\n%s", kinds, tt.kind, got)
			}
			for _, s := range tt.secrets {
				if !strings.Contains(tt.text, s) {
					t.Fatalf("the case has no %s", s)
				}
				if strings.Contains(got, s) {
					t.Errorf("%q is shown:\n%s", s, got)
				}
			}
			if len(got) > len(tt.text) || strings.Count(got, "\n") != strings.Count(tt.text, "\n") {
				t.Errorf("%d bytes became %d:\n%s", len(tt.text), len(got), got)
			}
			if again, kinds := foundIn(t, got); again != got {
				t.Errorf("masked again %q:\n%s\nwas\n%s", kinds, again, got)
			}
		})
	}
}

// Values of words mixed with numbers are masked after any name of a credential,
// however value and name are joined.
func TestScanFindsMixedWords(t *testing.T) {
	values := []string{"Tr0ub4dor-9Kx-Zebra", "hunter2-Zeta-9Kx", "Zeta_9Kx_hunter2", "9Kx.Zebra.4tune", "Kilo.Lima-7up-9x", "test-Tr0ub4dor-9Kx"}
	for _, name := range []string{"password", "db_password", "passwd", "PASSWORD", "passphrase", "secret", "client_secret", "token", "auth_token", "API_TOKEN",
		"api_key", "apiKey"} {
		for _, format := range []string{"%s=%s", "%s = %s", "%s: %s", `%s="%s"`, `"%s": "%s"`, "--%s %s", "x;%s=%s;y"} {
			for _, value := range values {
				text := fmt.Sprintf(format, name, value)
				if got, _ := foundIn(t, text); strings.Contains(got, value) {
					t.Errorf("%q is shown", got)
				}
			}
		}
	}
	for _, format := range []string{"password: |\n  %s", "password: >-\n  %s", "password:\n  %s", "Please use the following password:\n\n%s",
		"- name: DB_PASSWORD\n  value: %s"} {
		for _, value := range values {
			if got, _ := foundIn(t, fmt.Sprintf(format, value)); strings.Contains(got, value) {
				t.Errorf("%q is shown", got)
			}
		}
	}
	for _, text := range []string{"password: |\n  kilo-lima-9-Mike", "password=Blue-Horse-7", "password: Kilo-lima-9-Mike", "password = 7-Lions-and-a-Lamb"} {
		if got, _ := foundIn(t, text); got == text {
			t.Errorf("%q is shown", got)
		}
	}
}

// Text near the patterns of credentials stays.
func TestScanFindsNothing(t *testing.T) {
	for _, text := range strings.Split(innocent, "\n---\n") {
		if got, kinds := foundIn(t, text); got != text || kinds != nil {
			t.Errorf("found %q in\n%s\n%s", kinds, text, got)
		}
	}
	if n := strings.Count(innocent, "\n---\n"); n < 120 {
		t.Errorf("only %d cases", n)
	}
}

// The text around a value stays.
func TestMask(t *testing.T) {
	s, err := NewScanner([]string{`ACME-\d+`, `pin (\d{4})\b`, `(?i)internal-[a-z]+`})
	if err != nil {
		t.Fatal(err)
	}
	s.Learn("correcthorse", "short")
	for name, tt := range map[string]struct {
		in, want string
		found    string
	}{
		"nothing":            {"a\nb", "a\nb", ""},
		"a long value":       {"x ghp_" + alnum2 + alnum2 + " y\n", "x [REDACTED:github token] y\n", "[security] 1 credential masked: github token"},
		"a short value":      {"PASSWORD=hunter2x9y\r\n", "PASSWORD=[REDACTED]\r\n", "[security] 1 credential masked: secret"},
		"a very short value": {"postgres://a:s3kr3t@b\n\n", "postgres://a:******@b\n\n", "[security] 1 credential masked: url password"},
		"two of one":         {"PASSWORD=hunter2\nAPI_KEY=" + alnum2, "PASSWORD=*******\nAPI_KEY=[REDACTED:secret]", "[security] 2 credentials masked: secret x2"},
		"two kinds": {"https://u:xK9mQ2vL@h/ AKIAYSHVJY65YZQUVVQL", "https://u:********@h/ [REDACTED:aws key]",
			"[security] 2 credentials masked: aws key, url password"},
		"one in another": {"https://dev:ghp_" + alnum4 + "@h/x.git", "https://dev:[REDACTED:github token]@h/x.git",
			"[security] 1 credential masked: github token"},
		"known by name": {"TOKEN=" + alnum2 + "\nand " + alnum2 + "!\n", "TOKEN=[REDACTED:secret]\nand [REDACTED:secret]!\n",
			"[security] 2 credentials masked: secret x2"},
		"a password in code": {"`influx -password xK9mQ2vLpQ7w`,\nand xK9mQ2vLpQ7w\n", "`influx -password [REDACTED]`,\nand [REDACTED]\n",
			"[security] 2 credentials masked: secret x2"},
		"an argument": {"run(login --password xK9mQ2vLpQ7w);\nand xK9mQ2vLpQ7w\n", "run(login --password [REDACTED]);\nand [REDACTED]\n",
			"[security] 2 credentials masked: secret x2"},
		"an option": {"  --auth-token " + alnum2 + ",\nand " + alnum2 + "\n", "  --auth-token [REDACTED:secret],\nand [REDACTED:secret]\n",
			"[security] 2 credentials masked: secret x2"},
		"learned": {"x=correcthorse; short", "x=[REDACTED]; short", "[security] 1 credential masked: secret"},
		"own pattern": {"see ACME-12345678901234567890 and ACME-1", "see [REDACTED:extra pattern] and ******",
			"[security] 2 credentials masked: extra pattern x2"},
		"own pattern, group":  {"the pin 1234 is", "the pin **** is", "[security] 1 credential masked: extra pattern"},
		"own pattern, a case": {"Internal-Thing", "[REDACTED]", "[security] 1 credential masked: extra pattern"},
		"a key": {"-----BEGIN PRIVATE KEY-----\n" + alnum4 + alnum2 + "\nab==\n-----END PRIVATE KEY-----\ndone",
			"-----BEGIN PRIVATE KEY-----\n[REDACTED:private key]\n****\n-----END PRIVATE KEY-----\ndone", "[security] 1 credential masked: private key"},
	} {
		t.Run(name, func(t *testing.T) {
			got, found := s.Mask(tt.in)
			if got != tt.want || Warning(found) != tt.found {
				t.Errorf("%q, %q\nwant\n%q, %q", got, Warning(found), tt.want, tt.found)
			}
		})
	}
	if got, found := (*Scanner)(nil).Mask("PASSWORD=hunter2"); got != "PASSWORD=hunter2" || found != nil {
		t.Errorf("without a scanner: %q %v", got, found)
	}
	if got, _ := (&Scanner{}).Mask("PASSWORD=hunter2"); got != "PASSWORD=*******" {
		t.Errorf("zero scanner: %q", got)
	}
}

func TestNewScanner(t *testing.T) {
	for expr, want := range map[string]string{
		"(":                      "not a regular expression",
		"a*":                     "matches the empty text",
		strings.Repeat("é", 513): "513 characters",
	} {
		if _, err := NewScanner([]string{"x", expr}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20s: %v, want %s", expr, err, want)
		}
	}
}

// A text without credentials costs no memory.
func TestMaskAllocates(t *testing.T) {
	s := &Scanner{}
	text := strings.Repeat("main.go:12:5: token: unexpected key = value (-want +got)\n", 20)
	s.Mask(text)
	if n := testing.AllocsPerRun(100, func() { s.Mask(text) }); n > 5 { // the race detector empties the pool
		t.Errorf("%.1f allocations, want at most 5", n)
	}
}

// The held lines of a key come out in order, and their number is limited.
func TestHeldLines(t *testing.T) {
	var out bytes.Buffer
	most := 0
	m := (&Scanner{}).Stream(func(l []byte) { out.Write(append(l, '\n')) }, nil)
	var want bytes.Buffer
	for i := range 5000 {
		line := strings.Repeat(string(rune('A'+i%26))+"b1", 25)
		want.WriteString(line + "\n")
		m.Line([]byte(line))
		most = max(most, len(m.held.text))
	}
	if found := m.End(); len(found) > 0 || out.String() != want.String() || most > maxHeldKey {
		t.Errorf("found %v, held %d bytes, the text is as it was: %t", found, most, out.String() == want.String())
	}
}

// A repeated line is scanned again if the lines around it, or learned values,
// make it a credential.
func TestMaskRepeatedLines(t *testing.T) {
	const key = "MIIEowIBAAKCAQEAxJ8yZ3VxQk1mU0tqN2RzZ2hLQXdlcnR5dWlvcGFzZGZnaGpr"
	for name, body := range map[string]string{
		"two keys": "-----BEGIN RSA PRIVATE KEY-----\nnone\n-----END RSA PRIVATE KEY-----\n-----BEGIN RSA PRIVATE KEY-----\n" + key +
			"\n-----END RSA PRIVATE KEY-----\n",
		"the value of a name":           "name: DB_PASSWORD\nvalue: none\nname: DB_PASSWORD\nvalue: " + key + "\n",
		"a block behind a name":         "password: |\n\npassword: |\n  " + key + "\n",
		"the login of a .netrc":         "machine a.example\nlogin x\nx\nmachine a.example\nlogin x\npassword " + key + "\n",
		"what is learned later":         "x " + key[:40] + " x\nx\nPASSWORD=" + key[:40] + "\nx " + key[:40] + " x\n",
		"the end of a key cut at begin": "x\n" + key + "\nx\n" + key + "\n" + key + "\n-----END RSA PRIVATE KEY-----\n",
	} {
		t.Run(name, func(t *testing.T) {
			masked := func(seen *Seen) string {
				var out strings.Builder
				m := (&Scanner{}).Stream(func(l []byte) { out.Write(append(bytes.Clone(l), '\n')) }, seen)
				for line := range bytes.Lines(text.Sanitize([]byte(strings.Repeat("y\n"+body, 3)))) {
					m.Line(bytes.TrimSuffix(line, []byte("\n")))
				}
				m.End()
				return out.String()
			}
			got, want := masked(NewSeen()), masked(nil)
			if got != want || !strings.Contains(got, maskBegin) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// Repeated values leave room to learn others.
func TestMaskLearnsOnce(t *testing.T) {
	const first, second = "kQ8zT2mW5xR7vB1n", "pL4hJ9sD6fG3yC0e"
	text := strings.Repeat("PASSWORD="+first+"\n", 2*maxKnown) + "PASSWORD=" + second + "\nx " + second + "\n"
	if got, _ := (&Scanner{}).Mask(text); strings.Contains(got, second) {
		t.Errorf("the last lines are %q", got[len(got)-80:])
	}
}
