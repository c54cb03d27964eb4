package oracle

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/document"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
)

// checkSignature verifies the signature of a request as the service does.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
func checkSignature(r *http.Request, body []byte) error {
	rest, ok := strings.CutPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 ")
	if !ok {
		return fmt.Errorf("no signature: %q", r.Header.Get("Authorization"))
	}
	fields := map[string]string{}
	for _, f := range strings.Split(rest, ", ") {
		name, value, _ := strings.Cut(f, "=")
		fields[name] = value
	}
	at := r.Header.Get("X-Amz-Date")
	if len(at) != len("20060102T150405Z") {
		return fmt.Errorf("no time: %q", at)
	}
	scope := at[:8] + "/" + awsRegion + "/bedrock/aws4_request"
	if fields["Credential"] != awsID+"/"+scope || r.Header.Get("X-Amz-Security-Token") != awsToken {
		return fmt.Errorf("credential %q, token %q", fields["Credential"], r.Header.Get("X-Amz-Security-Token"))
	}
	signed := strings.Split(fields["SignedHeaders"], ";")
	for _, name := range []string{"host", "x-amz-date", "x-amz-security-token", "content-type"} {
		if !slices.Contains(signed, name) {
			return fmt.Errorf("%s is not signed", name)
		}
	}
	var headers strings.Builder
	for _, name := range signed {
		value := r.Header.Get(name)
		switch name {
		case "host":
			value = r.Host
		case "content-length":
			value = fmt.Sprint(len(body))
		}
		fmt.Fprintf(&headers, "%s:%s\n", name, strings.Join(strings.Fields(value), " "))
	}
	path, _, _ := strings.Cut(r.RequestURI, "?")
	segments := strings.Split(path, "/")
	for i, s := range segments { // each is escaped once more, whatever it is
		segments[i] = strings.ReplaceAll(url.QueryEscape(s), "+", "%20")
	}
	hash := func(data []byte) string { sum := sha256.Sum256(data); return hex.EncodeToString(sum[:]) }
	canonical := strings.Join([]string{r.Method, strings.Join(segments, "/"), r.URL.RawQuery, headers.String(), fields["SignedHeaders"], hash(body)}, "\n")
	key := []byte("AWS4" + awsSecret)
	for _, part := range append(strings.Split(scope, "/"), strings.Join([]string{"AWS4-HMAC-SHA256", at, scope, hash([]byte(canonical))}, "\n")) {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(part))
		key = mac.Sum(nil)
	}
	if want := hex.EncodeToString(key); fields["Signature"] != want {
		return fmt.Errorf("signature %s, want %s of\n%s", fields["Signature"], want, canonical)
	}
	return nil
}

// unions are the types of the SDK for values of several kinds. The member of JSON that is set names the kind.
var unions = map[reflect.Type]map[string]reflect.Type{
	reflect.TypeFor[types.ContentBlock](): {"text": reflect.TypeFor[types.ContentBlockMemberText](), "image": reflect.TypeFor[types.ContentBlockMemberImage](),
		"toolUse": reflect.TypeFor[types.ContentBlockMemberToolUse](), "toolResult": reflect.TypeFor[types.ContentBlockMemberToolResult](),
		"cachePoint": reflect.TypeFor[types.ContentBlockMemberCachePoint](), "reasoningContent": reflect.TypeFor[types.ContentBlockMemberReasoningContent]()},
	reflect.TypeFor[types.SystemContentBlock](): {"text": reflect.TypeFor[types.SystemContentBlockMemberText](),
		"cachePoint": reflect.TypeFor[types.SystemContentBlockMemberCachePoint]()},
	reflect.TypeFor[types.Tool](): {"toolSpec": reflect.TypeFor[types.ToolMemberToolSpec](),
		"cachePoint": reflect.TypeFor[types.ToolMemberCachePoint]()},
	reflect.TypeFor[types.ToolInputSchema](): {"json": reflect.TypeFor[types.ToolInputSchemaMemberJson]()},
	reflect.TypeFor[types.ToolResultContentBlock](): {"text": reflect.TypeFor[types.ToolResultContentBlockMemberText](),
		"image": reflect.TypeFor[types.ToolResultContentBlockMemberImage]()},
	reflect.TypeFor[types.ReasoningContentBlock](): {"reasoningText": reflect.TypeFor[types.ReasoningContentBlockMemberReasoningText](),
		"redactedContent": reflect.TypeFor[types.ReasoningContentBlockMemberRedactedContent]()},
	reflect.TypeFor[types.ImageSource](): {"bytes": reflect.TypeFor[types.ImageSourceMemberBytes]()},
}

// decodeAs decodes JSON into a type of the SDK, which cannot do that itself. A member that the type does not have is an error.
func decodeAs(data []byte, out any) error {
	var v any
	d := json.NewDecoder(strings.NewReader(string(data)))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return err
	}
	return decodeInto(v, reflect.ValueOf(out).Elem())
}

func decodeInto(v any, out reflect.Value) error {
	wrong := fmt.Errorf("%T for a %s", v, out.Type())
	switch {
	case out.Type() == reflect.TypeFor[document.Interface]():
		out.Set(reflect.ValueOf(document.NewLazyDocument(plainNumbers(v))))
		return nil
	case unions[out.Type()] != nil:
		return decodeUnion(v, out)
	}
	switch out.Kind() {
	case reflect.Pointer:
		out.Set(reflect.New(out.Type().Elem()))
		return decodeInto(v, out.Elem())
	case reflect.String:
		text, ok := v.(string)
		if !ok {
			return wrong
		}
		out.SetString(text)
	case reflect.Int32:
		n, ok := v.(json.Number)
		i, err := n.Int64()
		if !ok || err != nil {
			return wrong
		}
		out.SetInt(i)
	case reflect.Slice:
		if text, ok := v.(string); ok && out.Type().Elem().Kind() == reflect.Uint8 {
			data, err := base64.StdEncoding.DecodeString(text)
			out.SetBytes(data)
			return err
		}
		list, ok := v.([]any)
		if !ok {
			return wrong
		}
		out.Set(reflect.MakeSlice(out.Type(), len(list), len(list)))
		for i, e := range list {
			if err := decodeInto(e, out.Index(i)); err != nil {
				return err
			}
		}
	case reflect.Struct:
		members, ok := v.(map[string]any)
		if !ok {
			return wrong
		}
		for name, e := range members {
			f := out.FieldByName(strings.ToUpper(name[:1]) + name[1:])
			if !f.IsValid() {
				return fmt.Errorf("a %s has no %s", out.Type(), name)
			}
			if err := decodeInto(e, f); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	default:
		return wrong
	}
	return nil
}

// decodeUnion decodes a value of one of several kinds.
func decodeUnion(v any, out reflect.Value) error {
	members, ok := v.(map[string]any)
	if !ok || len(members) != 1 {
		return fmt.Errorf("%v for a %s", v, out.Type())
	}
	for name, e := range members {
		kind := unions[out.Type()][name]
		if kind == nil {
			return fmt.Errorf("a %s has no %s", out.Type(), name)
		}
		one := reflect.New(kind)
		if err := decodeInto(e, one.Elem().FieldByName("Value")); err != nil {
			return errors.Join(fmt.Errorf("%s", name), err)
		}
		out.Set(one)
	}
	return nil
}

// plainNumbers returns a value whose numbers the SDK's documents accept.
func plainNumbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		f, _ := v.Float64()
		return f
	case []any:
		for i := range v {
			v[i] = plainNumbers(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = plainNumbers(v[k])
		}
	}
	return v
}
