package redact

// innocent are texts without credentials.
const innocent = `mkdir -p build/x1 && cp -p a1b2c3 dest
---
docker run -p 8080:80 -p 127.0.0.1:5432:5432 nginx
---
ssh -p 2222 user@host1
---
zip -r out2.zip dist -x '*.map1'
---
unzip -o file1.zip -d dir2
---
rsync -azP src/ host1:/dst2/
---
curl -u "$USER:$PASS" https://x
---
curl -U user https://x.io
---
curl -k -A 'Mozilla/5.0 (X11; Linux x86_64)' https://x
---
http -a $USER:$PASS GET x.io
---
ab -n 1000 -c 10 http://localhost:8080/
---
snmpwalk -v2c -c public host1 sysDescr.0
---
openssl enc -d -aes-256-cbc -in file1.enc -out file2
---
mysql -ptest1 -h host
---
mysqldump -h db1 -P 3306 shop2
---
sqlcmd -S tcp:host1,1433 -d db2 -Q "select 1"
---
ldapsearch -x -h host1 -b dc=x2
---
redis-cli -h 127.0.0.1 -p 6379 ping
---
npm run build -- --mode=production2
---
git log -p HEAD~3 -- src/a1.go
---
usermod -aG docker user1
---
useradd -m -s /bin/bash user1
---
echo "v1.2.3" | tee version.txt
---
echo hello1 | sudo -S true1
---
cat <<< "release v1.2.3-rc4"
---
passwd bob <<< $NEW_PW
---
sqlplus /nolog @setup1.sql
---
sqlplus scott/$PW1@orcl
---
vault login -method=oidc role=dev1
---
AccessorID: 368b23ff-8500-4f17-8f4b-4ca1b570e2e6
"SecretId": "prod/db1"
---
vault login v1.15.2
---
bundle config set path vendor/bundle2
---
bundle config mirror.https://rubygems.org http://localhost:9292
---
msbuild a.sln /p:Configuration=Release2 /p:Version=1.2.3
---
net user Administrator2 /active:yes
---
SET PASSWORD FOR 'bob'@'localhost' = ?;
---
| token    | string    | the API token1 to use |
| password | required1 |
| secret   | db-credentials-2 |
| token    | 3.14.2 |
---
export type T = token | undefined2
ps aux | grep secret | awk2 '{print $2}'
---
vault token lookup -accessor x
---
cargo login --registry r2
---
net use Z: \\srv1\share2 /user:bob1
---
net use Z: \\srv1\share2 /persistent:yes
---
nuget push a1.nupkg -Source x2
---
bw login --apikey
---
printf 'abc1234' | sha256sum
---
echo '{"a1":2}' | jq -S .
---
add_user bob name1
---
def add_user(name, password1):
---
kubectl get pods -A -o wide1
---
terraform apply -auto-approve -var-file=x1.tfvars
---
java -cp a1.jar:b2.jar Main
---
  -keystore path/to/key1.jks
---
test_password_reset_v2 PASSED
---
tests/test_auth.py::test_login_with_password2 PASSED [ 50%]
---
password reset for user12 sent
---
Enter password for bob12:
---
password: string;
---
if (password.length < 8) throw new Error("password too short 8")
---
mongo:7.0.5 -p 27017:27017
---
mongod --port 27017 -p 27017
---
docker-compose -p project1 up
---
twine upload dist/pkg1-1.0.tar.gz
---
certutil -hashfile file1 SHA256
---
7z x -pX a.7z
---
sort -k2,2n -k1,1 file1
---
tar -xzpf a1.tgz
---
prettier -u src1
---
gpg --passphrase-fd 0
---
docker login -u bob --password-stdin registry.io1
---
sqlite3 -P x1y2z3
---
commit 9f2b6c0d4e7a81530bd2f4961ce8a73d5f0be214
---
index 2a1f9c3..9f2b6c0 100644
---
7e3e1fd fix: handle token refresh in session 0
---
id: 123e4567-e89b-42d3-a456-426614174000
---
"request_token_id": "123e4567-e89b-42d3-a456-426614174000"
---
![x](data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg==)
---
"integrity": "sha512-9zKmQ2vLtR7kXzV9bLs4Wd8YcHn3Jf6Gp1ZaEu5KxBo0TtR7kQm2XzV9bLs4Wd8YcHn3Jf6Gp1ZaEu5KxBo0Tg=="
---
    "js-tokens": "^4.0.0",
---
    "jsonwebtoken": "^9.0.2",
---
"node_modules/secret-stack": { "version": "6.4.1", "resolved": "https://registry.example.test/secret-stack/-/secret-stack-6.4.1.tgz" }
---
checksum = "9f2b6c0d4e7a81530bd2f4961ce8a73d4c1d0e9b7a6f52833eb1c0d7f94a286e"
---
github.com/golang-jwt/jwt/v5 v5.2.1 h1:OuVbFODueb089Lh128TAcimifWaLhJwVflnrgM17wHk=
---
    --hash=sha256:9f2b6c0d4e7a81530bd2f4961ce8a73d4c1d0e9b7a6f52833eb1c0d7f94a286e
---
Digest: sha256:9f2b6c0d4e7a81530bd2f4961ce8a73d4c1d0e9b7a6f52833eb1c0d7f94a286e
---
9f2b6c0d4e7a81530bd2f4961ce8a73d4c1d0e9b7a6f52833eb1c0d7f94a286e  secret.txt
---
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGk2mQ9xZr4T7vWc1LsYpB8nKdHj3Fq5Eu0RtXaGoVzM dev@host
---
-----BEGIN CERTIFICATE-----
MIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJ
RTESMBAGA1UEChMJQmFsdGltb3JlMRMwEQYDVQQLEwpDeWJlclRydXN0MSIwIAYD
-----END CERTIFICATE-----
---
-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEk2mQ9xZr4T7vWc1LsYpB8nKdHj3F
-----END PUBLIC KEY-----
---
certificate-authority-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSURkekNDQWwrZ0F3SUJBZ0lF
---
if strings.Contains(text, "-----BEGIN PRIVATE KEY-----") {
	return errors.New("private key in text")
}
---
README.md:12:Look for -----BEGIN RSA PRIVATE KEY----- at the top.
---
The file begins with
-----BEGIN PRIVATE KEY-----
and then comes the key itself.
---
DATABASE_URL=postgres://user:password@localhost:5432/app
---
DATABASE_URL=postgres://postgres:postgres@localhost:5432/app
---
DATABASE_URL=postgres://${DB_USER}:${DB_PASSWORD}@${DB_HOST}/app
---
url := fmt.Sprintf("postgres://%s:%s@%s:%d/%s", user, pass, host, port, name)
---
https://<user>:<password>@example.test/
---
http://localhost:8080/users/@me
---
fetching https://registry.example.test:4873/@scope/pkg/-/pkg-1.0.0.tgz
---
ssh://git@github.com:22/a/b.git
---
git@github.com:a/b.git
---
https://user@example.test/x
---
docker.io/library/alpine:3.20@sha256:9f2b6c0d4e7a81530bd2f4961ce8a73d4c1d0e9b7a6f52833eb1c0d7f94a286e
---
amqp://guest:guest@localhost:5672/
---
https://9f2b6c0d4e7a81530bd2f4961ce8a73d@o123.ingest.sentry.io/456
---
API_KEY=<your-api-key>
---
API_KEY=your-api-key-here
---
API_KEY=
---
API_KEY=""
---
GITHUB_TOKEN=${GITHUB_TOKEN}
---
GITHUB_TOKEN=$GITHUB_TOKEN
---
GITHUB_TOKEN=$(gh auth token)
---
GITHUB_TOKEN: ${{ secrets.GITHUB_TOKEN }}
---
GITHUB_TOKEN: ***
---
SECRET_KEY=changeme
---
SECRET_KEY=change-me-in-production
---
SECRET_KEY=xxxxxxxxxxxxxxxxxxxx
---
AUTH_HEADER="Bearer <token>"
---
Authorization: Bearer $TOKEN
---
Authorization: Bearer YOUR_ACCESS_TOKEN
---
Authorization: Bearer ...
---
-H "Authorization: Bearer ${token}"
---
headers = {"Authorization": "Bearer " + token}
---
headers["Authorization"] = f"Bearer {self.token}"
---
Authorization: Basic realm="x"
---
WWW-Authenticate: Bearer realm="https://auth.example.test/token",service="registry"
---
"Authorization": "required for all requests"
---
AKIAIOSFODNN7EXAMPLE
---
AKIAXXXXXXXXXXXXXXXX
---
aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY
---
ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
---
ghp_1234567890abcdefghijklmnopqrstuvwxyz
---
regexp.MustCompile("ghp_[A-Za-z0-9]{36}")
---
npm_config_registry=https://registry.example.test/
---
npm_package_dependencies_express=^4.18.2
---
npm_lifecycle_script=vitest run --coverage
---
sk-learn and scikit-learn
---
<div class="sk-estimator-doc-link fitted sk-toggleable__label">
---
task-3fbb1c2d-worker disk-usage-report-2024 risk-assessment-of-the-month
---
hf_hub_download(repo_id="bert-base-uncased", filename="config.json")
---
eyJ2ZXJzaW9uIjozLCJzb3VyY2VzIjpbImluZGV4LmpzIl0sIm5hbWVzIjpbXX0=
---
//# sourceMappingURL=data:application/json;base64,eyJ2ZXJzaW9uIjozLCJzb3VyY2VzIjpbImluZGV4LmpzIl19
---
password: string
---
password: str = None
---
  password?: string;
---
    password: Optional[str] = None,
---
func Login(user, password string) error {
---
password := os.Getenv("DB_PASSWORD")
---
password = os.environ["DB_PASSWORD"]
---
const token = process.env.GITHUB_TOKEN1;
---
token = getToken(user2, "abc")
---
token := lexer.NextToken2()
---
secretKey = this.config.secretKeyV2;
---
password=password, token=token
---
if (password == user.password1) {
---
user.password = req.body.password2
---
String password = request.getParameter("password");
---
<input type="password" name="password" placeholder="Enter your password 1" />
---
<label for="password">Password</label>
---
<password>${env.MAVEN_PASSWORD}</password>
---
"password": "Passwort"
---
"password": "Your password must have 8 characters"
---
  "password": null,
---
  "password": true,
---
  "token": 42,
---
password: [FILTERED]
---
password: ********
---
password: {{ .Values.db.password }}
---
password: !vault |
---
secretKeyRef:
  name: db-secret-v2
  key: password1
---
  secretName: app-tls-2024a1b2c3
---
type: kubernetes.io/service-account-token
---
name: default-token-x7k2p
---
token: 3 tokens expected, got 2
---
SyntaxError: Unexpected token: punc (;)
---
error: unexpected token: 'x1y2z3'
---
max_tokens: 4096
---
prompt_tokens=1234 completion_tokens=567
---
next_page_token: CAUQAAx9K2mQ7vLtR3k
---
nextToken=eyJ2IjoiMiIsImMiOiJhYmMifQ
---
primary key: 1234567890123
---
cache key: Linux-node-9f2b6c0d4e7a81530bd2f4961ce8a73d
---
Cache restored from key: node-cache-Linux-x64-npm-9f2b6c0d4e7a81530bd2f4961ce8a73d4c1d0e9b7a6f5283
---
public_key: 9f2b6c0d4e7a81530bd2f4961ce8a73d4c1d0e9b7a6f52833eb1c0d7f94a286e
---
STRIPE_PUBLISHABLE_KEY=pk_live_o9dgEbIyjvbl5TxfunRURNRf
---
GPG_KEY=E3FF2839C048B25C084DEBE9B26995E310250568
---
SSH_AUTH_SOCK=/tmp/ssh-XXXXq2Vf1a/agent.4711
---
PWD=/home/dev/project9a8b7c
---
OLDPWD=/home/dev/x1y2z3
---
PASSWORD_FILE=/run/secrets/db_password1
---
PASSWORD_MIN_LENGTH=12
---
TOKEN_EXPIRY_SECONDS=86400
---
JWT_ALGORITHM=RS256
---
AUTH0_DOMAIN=dev-x1y2z3.eu.auth0.com
---
password_reset_url: https://example.test/reset1
---
default_authentication_plugin=caching_sha2_password
---
Last password change					: Jan 01, 2024
---
Password expires in 90 days
---
The password is required and must have at least 12 characters
---
The password is too short
---
--- PASS: TestLogin2/with_password=x (0.00s)
---
PASS: 12 FAIL: 3
---
pass=12 fail=0 skip=1
---
    pass: TestHandler123
---
ok  	example.test/token	0.012s
---
token.go:12:5: undefined: secretKey1
---
src/auth/password.ts(12,5): error TS2345: Argument of type 'string1' is not assignable
---
  --password string   The password for login
---
  --token <TOKEN>     API token
---
  --api-key KEY       the key to use
---
-p, --password=PASSWORD  prompt for it
---
usage: mysql [-u user] [-p password]
---
docker run -u 1000:1000 -p 8080:80 alpine
---
sort -u a:b1c2d3e4
---
root:x:0:0:root:/root:/bin/bash
---
root:*:19000:0:99999:7:::
---
machine learning with a password manager
---
Reset your password with 'app passwd'. API keys belong in the vault, tokens expire after 1 hour.
---
password	required	pam_unix.so
---
passwd:         files systemd
---
GRANT ALL ON db.* TO 'dev'@'%' IDENTIFIED BY 'password';
---
mysql_native_password | ACTIVE | AUTHENTICATION
---
arn:aws:secretsmanager:us-east-1:123456789012:secret:prod/db-AbC123
---
secret: arn:aws:secretsmanager:us-east-1:123456789012:secret:prod/db-AbC123
---
password: op://vault/item1/field2
---
db_password: ENC[AES256_GCM,data:Ab1cD2eF,iv:x,tag:y,type:str]
---
----------------------------------------------------------------
---
================================================================
---
a==b::c..d__e--f
---
e.exports={password:e.password,token:t.token1,apiKey:!0,secret:void 0}
---
function(a,b){return a.token=b.key1,a.secret=c(d),a}
---
Content-Type: application/x-www-form-urlencoded
---
ETag: "9f2b6c0d4e7a81530bd2f4961ce8a73d"
---
X-Request-Id: 9f2b6c0d-4e7a-4153-8bd2-f4961ce8a73d
---
Cookie: theme=dark; lang=en; session=<id>
---
XDG_SESSION_ID=c2
---
DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/1000/bus,guid=9f2b6c0d4e7a81530bd2f4961ce8a73d
---
traceparent: 00-9f2b6c0d4e7a81530bd2f4961ce8a73d-4e7a81530bd2f496-01
---
Compiling secret-service v3.0.1
---
npm warn deprecated request-token@1.2.3: use something else
---
added token2id mapping: 0x7f3a9c21 -> 42
---
SHA256:9zKmQ2vLtR7kXzV9bLs4Wd8YcHn3Jf6Gp1ZaEu5KxBo dev@host (ED25519)
---
key fingerprint = 9F2B 6C0D 4E7A 8153 0BD2  F496 1CE8 A73D 5F0B E214
---
password reset for user1@example.test
---
apiVersion: v1beta1
---
pub const ERROR_OTHER_PASSWORD: WIN32_ERROR = 2108u32;
---
            const token = byLastLine ? sourceCode.getLastToken(node) : first;
---
    token: OAuth2Token
---
type Fts5TokenDataIter = TFts5TokenDataIter
---
    Credential: _win32typing.PyCredHandle,
---
FS_IOC_ADD_ENCRYPTION_KEY                   = 0xc0506617
---
{1 {unrecognized token: "123.4e5ghi"}}
---
ZONE_ID_PAT = "(?:%25|%)(?:[" + UNRESERVED_PAT + "]|%[a-fA-F0-9]{2})+"
---
this._noAuthorization = !req.headers.authorization;
---
--allow-interactive-authorization=no --augment-creds=no
---
x/add_partitions_to_txn.pyi,sha256=sk-sH1I6OL_lOn3fntKGV6drtVxKqLCuXK7yOyLbTxA,959
---
[![codecov](https://codecov.io/gh/a/b/graph/badge.svg?token=KxR95XT3NF)](https://codecov.io/gh/a/b)
---
    :param passphrase: :py:data:'bytes'
---
null!==this._password?this._password+=M:this._username+=M}
---
let mut value = HeaderValue::from_bytes(b"12345").unwrap();
---
PATH_PWD_MKDB = "/usr/sbin/pwd_mkdb"
---
RECAPTCHA_SITE_KEY=6LtR7kQm2XzV9bLs4Wd8YcHn3Jf6Gp1ZaEu5KxBo
---
arn:aws:secretsmanager:us-east-1:123456789012:secret:db-x7Kq2P
---
"token": "0x9f2b6c0d4e7a81530bd2f4961ce8a73d5f0be214"
---
http://[::1]:8080/@fs/x
---
cmd.Env = append(cmd.Env, "PWD="+cmd.Dir)
---
cmd.Env = append(cmd.Env, "DB_PASSWORD="+cfg.DBPass2)
---
auth = dict(Email=credentials[0], Passwd=credentials[1], source=headers["user-agent"])
---
// Oauth2JwtBearer: Oauth2JwtBearer.
---
"en_PH": "en_001", "en_PW": "en_001", "en_RW": "en_001"
---
"password": "Passwort vergessen?"
---
"password": "must have at least eight characters"
---
"password": "Passwort (min. 8 Zeichen)"
---
<string name="password">Kennwort</string>
---
label.password=Kennwort
---
  FORGOT_PASSWORD: 'Passwort vergessen?',
---
  DB_PASSWORD: dbPassword,
---
password: "auth.login.form.title"
---
password: await bcrypt.hash(password, 10),
---
password = process.env.DB_PASSWORD || ''
---
password = os.getenv("DB_PASSWORD") or "changeme"
---
 password      | character varying(255) |           | not null |
---
| token    | varchar(64)  | NO   | UNI | NULL    |       |
---
      "password": {
        "type": "string"
---
        password:
          type: string
---
Enter the token:
ok  	example.test/token	0.012s
---
a&&password=b,c?token=d:e1
---
printf("%3d: password=%s\n", i, p)
---
awk '{print $1$2}' | sed 's/$6$/x/'
---
<password>changeit</password>
---
MasterUserPassword: '{{resolve:secretsmanager:db:SecretString:password}}'
---
      DB_PASSWORD:     <set to the key 'password' in secret 'db'>  Optional: false
---
password:[a-zA-Z0-9]{8,}
---
@auth("admin", "editor2")
---
Password=yourStrong(!)Password;
---
WEBHOOK_SECRET=whsec_xxx
---
"password": "wachtwoord vergeten klik dan hier"
---
"passphrase": "enter the passphrase for your private key"
---
  ~ password = (sensitive value)
---
variable "password" {
  description = "The password of db1"
  default     = ""
---
  "password": {
    "type": "string",
    "default": "",
---
enum Errors { INVALID_PASSWORD = 'INVALID_PASSWORD', BAD_TOKEN = 'auth/invalid-token' }
---
  RESET_PASSWORD: /reset-password
---
host=localhost user=postgres password=postgres dbname=test sslmode=disable
---
user:pass@tcp(127.0.0.1:3306)/x
---
| password | string | yes      | The user1 password |
---
{ pass: 12, fail: 0 }
---
https://a.test/auth?redirect_uri=http%3A%2F%2Flocalhost%3A8080%2Fcallback&response_type=token
---
auth=HMAC-SHA2-256-etm@openssh.com
---
auth: OAuth2-PKCE-S256
---
secret: db-credentials-7f9c
---
secretName: my-app-tls-v2
---
password = byLastLine2
---
token = Utf8Decoder.Vec2ToVec3
---
password=test1234
---
password=MyPassword-2
---
expected password "admin" to be rejected, got password "correct horse"
---
parsed version v1.0-rc.1-12-g9f2b6c0d4e7a81530bd2f4961ce8a73d5f0be214
---
pat.matcher(input).results().map(MatchResult.group).collect(Collectors.toList())
---
fw_update_available fw_version_check_interval_ms
---
"type": "random_pet",
"result": "wEv6ANaUzNSuYYpQ"
---
"result": "wEv6ANaUzNSuYYpQ"
---
[REDACTED:github token] and [REDACTED] and ****
---
PASSWORD=[REDACTED:secret]
---
| Option | Password | Description |
|---|---|---|
| -p | required | the password of the user |
| -q | optional | no-op in v1.2.3 |
---
import user, password
import host, port2x9q
---
user,password
alice,${DB_PASSWORD}
bob,<password>
---
 column   | type         | password
----------+--------------+----------
 id       | integer      | f
---
INSERT INTO flags (name, password) VALUES ('a', NULL), ('b', '');
---
COPY public.users (id, name, password_updated) FROM stdin;
1	bob	2024-01-02
---
  :: 12
---
LONG_PASSWORD: Final[int]
FOUND_ROWS: Final[int]
---
this.token = $9473610dff0d13f5$var$nullToken;
---
unexpected token "}"
---
token identifier_of_a_variable_2
---
secret db-credentials-7f9c-production
---
public_key AAAAC3NzaC1lZDI1NTE5AAAAIBf0xK9mQ2vLtR7kQm2XzV9bLs4Wd8Yc
---
var i="Unknown token ",l=(0,y.default)(u,6),D=l[0];
---
AUTH OK
---
DriverManager.getConnection(url, "root", "")
---
password: !vault |
  $ANSIBLE_VAULT;1.1;AES256
---
password: &pw ${PW}
---
<password type="string" required="true">The password</password>
---
PASS=12 FAIL=0
---
##vso[task.setvariable variable=Version]1.2.3-beta4
---
x.test	FALSE	/	TRUE	0	theme	dark-mode-2
---
the password reset-v2 endpoint
---
cGxlYXNlIGVudGVyIHlvdXIgcGFzc3dvcmQgdG8gY29udGludWU=`
