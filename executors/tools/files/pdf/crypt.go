package pdf

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/md5"
	"crypto/rc4"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
)

// crypt decrypts the streams of a document that opens without a password: its encryption only asks readers to
// forbid printing or copying. ISO 32000-1, 7.6; for AES with 256 bits ISO 32000-2, 7.6.4.
type crypt struct {
	key  []byte
	aes  bool
	wide bool // the key holds for all objects
}

// padding completes a password.
const padding = "\x28\xBF\x4E\x5E\x4E\x75\x8A\x41\x64\x00\x4E\x56\xFF\xFA\x01\x08\x2E\x2E\x00\xB6\xD0\x68\x3E\x80\x2F\x0C\xA9\xFE\x64\x53\x69\x7A"

// openCrypt returns the encryption of a document, nil if it needs a password.
func (d *Document) openCrypt(e dict, id str) *crypt {
	number := func(key name) int {
		f, _ := d.number(e[key])
		return int(f)
	}
	text := func(key name) str {
		s, _ := d.resolve(e[key]).(str)
		return s
	}
	version, revision := number("V"), number("R")
	c := &crypt{}
	method := name("V2")
	if version >= 4 {
		filters := d.dict(e["CF"])
		method = d.name(d.dict(filters[d.name(e["StmF"])])["CFM"])
	}
	c.aes = method == "AESV2" || method == "AESV3"
	if version >= 5 {
		c.wide = true
		c.key = wideKey(text("U"), text("UE"), revision)
		if c.key == nil || !c.aes {
			return nil
		}
		return c
	}
	size := number("Length") / 8
	if version == 1 || size < 5 || size > 16 {
		size = 5
		if version == 4 {
			size = 16
		}
	}
	owner, user := text("O"), text("U")
	if len(owner) < 32 || len(user) < 16 || method != "V2" && !c.aes {
		return nil
	}
	var p [4]byte
	binary.LittleEndian.PutUint32(p[:], uint32(int64(number("P"))))
	seed := append([]byte(padding), owner[:32]...)
	seed = append(append(seed, p[:]...), id...)
	if metadata, ok := d.resolve(e["EncryptMetadata"]).(bool); revision >= 4 && ok && !metadata {
		seed = append(seed, 0xff, 0xff, 0xff, 0xff)
	}
	sum := md5.Sum(seed)
	if revision >= 3 {
		for range 50 {
			sum = md5.Sum(sum[:size])
		}
	}
	c.key = bytes.Clone(sum[:size])
	if !c.opens(user, id, revision) {
		return nil
	}
	return c
}

// opens reports whether the key is right.
func (c *crypt) opens(user, id str, revision int) bool {
	if revision < 3 {
		return string(rc4With(c.key, []byte(padding))) == string(user[:min(len(user), 32)])
	}
	sum := md5.Sum(append([]byte(padding), id...))
	got := sum[:]
	for i := range 20 {
		key := bytes.Clone(c.key)
		for j := range key {
			key[j] ^= byte(i)
		}
		got = rc4With(key, got)
	}
	return string(got) == string(user[:16])
}

func rc4With(key, data []byte) []byte {
	out := make([]byte, len(data))
	if c, err := rc4.NewCipher(key); err == nil {
		c.XORKeyStream(out, data)
	}
	return out
}

// wideKey returns the key of a document with keys of 256 bits, nil if it needs a password.
func wideKey(user, encrypted str, revision int) []byte {
	if len(user) < 48 || len(encrypted) < 32 {
		return nil
	}
	if !bytes.Equal(wideHash([]byte(user[32:40]), revision), []byte(user[:32])) {
		return nil
	}
	block, err := aes.NewCipher(wideHash([]byte(user[40:48]), revision))
	if err != nil {
		return nil
	}
	key := make([]byte, 32)
	cipher.NewCBCDecrypter(block, make([]byte, 16)).CryptBlocks(key, []byte(encrypted[:32]))
	return key
}

// wideHash returns the hash of the empty password with a salt.
func wideHash(salt []byte, revision int) []byte {
	sum := sha256.Sum256(salt)
	k := sum[:]
	if revision < 6 {
		return k
	}
	for i := 0; ; i++ {
		input := bytes.Repeat(k, 64)
		block, err := aes.NewCipher(k[:16])
		if err != nil {
			return nil
		}
		cipher.NewCBCEncrypter(block, k[16:32]).CryptBlocks(input, input)
		rest := 0
		for _, b := range input[:16] {
			rest += int(b)
		}
		switch rest % 3 {
		case 0:
			h := sha256.Sum256(input)
			k = h[:]
		case 1:
			h := sha512.Sum384(input)
			k = h[:]
		default:
			h := sha512.Sum512(input)
			k = h[:]
		}
		if i >= 63 && int(input[len(input)-1]) <= i-32 {
			return k[:32]
		}
	}
}

// decrypt returns the data of a stream.
func (c *crypt) decrypt(s *stream) []byte {
	key := c.key
	if !c.wide {
		seed := append(bytes.Clone(key), byte(s.num), byte(s.num>>8), byte(s.num>>16), 0, 0)
		if c.aes {
			seed = append(seed, "sAlT"...)
		}
		sum := md5.Sum(seed)
		key = sum[:min(len(key)+5, 16)]
	}
	if !c.aes {
		return rc4With(key, s.data)
	}
	if len(s.data) < 32 {
		return nil
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil
	}
	data := bytes.Clone(s.data[16 : len(s.data)-len(s.data)%16])
	cipher.NewCBCDecrypter(block, s.data[:16]).CryptBlocks(data, data)
	if n := int(data[len(data)-1]); n >= 1 && n <= 16 {
		data = data[:len(data)-n]
	}
	return data
}
