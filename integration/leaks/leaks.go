// Package leaks finds credentials where they must not be: in frames, requests, logs and the
// files of a home directory.
//
// Put the Text of [Credentials] into inputs and outputs, record every exit, and call [In] for
// recorded bytes and [InDir] for stored files.
package leaks

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Credential is a made-up credential.
type Credential struct {
	Name string
	Text string // one or more lines that contain the value in its usual surroundings
	// Parts are pieces of the value. None may appear at an exit, whatever the escapes: they
	// consist of letters and digits.
	Parts []string
}

// Leak is a credential at an exit.
type Leak struct {
	Credential string
	Where      string // what was searched, or the path of the file
	Around     string // the bytes around it
}

func (l Leak) String() string {
	return fmt.Sprintf("%s in %s: …%q…", l.Credential, l.Where, l.Around)
}

// pem is a private key; its body has no meaning.
var pem = "-----BEGIN RSA " + "PRIVATE KEY-----\n" +
	"MIIEowIBAAKCAQEAvQ7mZr2XkT9sLp4HcJ8yWn3bGd6fVu1aRe5oKiXqPzNtSxYj\n" +
	"Bw0lChDgM7vUE2rFaO9kTnIy6pQmJsL4eHbXzRtWu8cVdNfGiKxYoPq3jAa5ZlMs\n" +
	"-----END RSA " + "PRIVATE KEY-----"

// Credentials are twenty credentials in the forms of many providers. Each is found by its own
// text, without a neighbour's.
var Credentials = []Credential{
	{"aws key id", "AK" + "IAQ3EGRT7WNYJ4KLM2", []string{"Q3EGRT7WNYJ4KLM2"}},
	{"aws secret", "aws_secret_access_key = hV7tZq9LmX2nRc8WbYk4JpDs6GfTu3EaQoNi5KxH", []string{"hV7tZq9LmX2nRc8W", "Tu3EaQoNi5KxH"}},
	{"google key", "AI" + "zaSyD4kQ9mXw7RtZ2nLbV8cJpH5sGfYu3EaTi", []string{"D4kQ9mXw7RtZ2nLb", "JpH5sGfYu3EaTi"}},
	{"github token", "gh" + "p_t7KmQ2xWnR9vLcY4bZp8HsJdGf3uEaTo5iXk", []string{"t7KmQ2xWnR9vLcY4", "JdGf3uEaTo5iXk"}},
	{"gitlab token", "gl" + "pat-Xk7RtQ9mWnL2vZcYb4Hp", []string{"Xk7RtQ9mWnL2vZcY"}},
	{"anthropic key", "sk-" + "ant-api03-Rm9XtK2wQnL7vZcY4bHpJ8sGdFu3EaToi5Nx", []string{"Rm9XtK2wQnL7vZcY", "GdFu3EaToi5Nx"}},
	{"openai key", "sk-" + "proj-Wq8ZtM3xKnR6vLcY9bJpHs4GdFu2EaToi7NxPk5", []string{"Wq8ZtM3xKnR6vLcY", "Fu2EaToi7NxPk5"}},
	{"slack token", "xo" + "xb-284719365027-591837264051-Vt6KmQ8xWnR3vLcYbZpHs2Jd", []string{"Vt6KmQ8xWnR3vLcY"}},
	{"stripe key", "sk" + "_live_Zm4QtX9wKnR2vLcY7bHpJs8G", []string{"Zm4QtX9wKnR2vLcY"}},
	{"npm token", "np" + "m_Kx3WtQ7mRnL9vZcYb2HpJs5GdFu8EaToi4Nx", []string{"Kx3WtQ7mRnL9vZcY", "GdFu8EaToi4Nx"}},
	{"sendgrid key", "SG" + ".nW5KtQ2mXrL8vZcY3bHpJs.Gd7FuEaToi9NxPkRw4ZqVyMtLcBhSgJd6Ku2XnEoTi", []string{"Gd7FuEaToi9NxPkR"}},
	{"json web token", "ey" + "JhbGciOiJIUzI1NiJ9.eyJzdWIiOiI5MTg0NzM2MiIsIm5hbWUiOiJSb3NhIn0.Qm4XtK7wRnL2vZcY9bHpJ8rUoTg5WiSk2MyVx3PzDf6",
		[]string{"Qm4XtK7wRnL2vZcY", "UoTg5WiSk2MyVx3P"}},
	{"bearer header", "Authorization: Bearer Lw6XtQ3mKnR8vZcY2bHpJs9GdFu7EaTo", []string{"Lw6XtQ3mKnR8vZcY"}},
	{"basic header", "Authorization: Basic cm9zYTpWOHRLcTJtWHc3Um5MNHZaYzlZ", []string{"cm9zYTpWOHRLcTJt"}},
	{"url password", "postgres://rosa:Yt5KmW8xQnR2vLc@db.internal.net:5432/app", []string{"Yt5KmW8xQnR2vLc"}},
	{"url token", "https://api.internal.net/v1/items?access_token=Pz7WtK4mXnR9vLcQ2bHsJd", []string{"Pz7WtK4mXnR9vLcQ"}},
	{"key=value", "DB_PASSWORD=Nc8XtR3mKwQ6vLz", []string{"Nc8XtR3mKwQ6vLz"}},
	{"json member", `{"client_secret": "Hb2KtW9mXnQ5vRcL7zYp"}`, []string{"Hb2KtW9mXnQ5vRcL"}},
	{"command option", "mysql --user=rosa --password=Jd4XtK8mWnR6vQc", []string{"Jd4XtK8mWnR6vQc"}},
	{"private key", pem, []string{"MIIEowIBAAKCAQEA", "Bw0lChDgM7vUE2rF"}},
}

// All returns the texts of all credentials, one below the other.
func All() string {
	var texts []string
	for _, c := range Credentials {
		texts = append(texts, c.Text)
	}
	return strings.Join(texts, "\n")
}

// In returns the credentials in data. where describes data.
func In(where string, data []byte) []Leak {
	var found []Leak
	for _, c := range Credentials {
		for _, part := range c.Parts {
			if i := bytes.Index(data, []byte(part)); i >= 0 {
				const around = 60
				found = append(found, Leak{c.Name, where, string(data[max(0, i-around):min(len(data), i+len(part)+around)])})
				break
			}
		}
	}
	return found
}

// InDir returns the credentials in the contents and the names of all files below dir, such as the
// database with its log, and the audit log. It skips files whose names are among except, such as
// "config.toml".
func InDir(dir string, except ...string) ([]Leak, error) {
	var found []Leak
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case slices.Contains(except, d.Name()):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		name, _ := filepath.Rel(dir, path)
		found = append(found, In("the name "+name, []byte(d.Name()))...)
		if !d.Type().IsRegular() {
			return nil
		}
		data, err := os.ReadFile(path)
		if err == nil {
			found = append(found, In(name, data)...)
		}
		return err
	})
	return found, err
}
