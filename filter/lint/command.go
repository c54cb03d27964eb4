package lint

import (
	"bytes"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// commandKind is the kind of a command that a build tool prints.
type commandKind uint8

const (
	noCommand    commandKind = iota
	otherCommand             // compiles, or similar
	linkCommand              // makes a program or a library
	enterCommand             // enters a directory
)

// isCompiler reports whether commands of a program are noise. Most lines are
// tested, for which a map would be slower.
func isCompiler(name []byte) bool {
	switch string(name) {
	case "gcc", "g++", "cc", "c++", "clang", "clang++", "cpp", "ar", "ranlib", "ld", "strip", "as", "nasm", "yasm",
		"gfortran", "nvcc", "rustc", "javac", "ocamlopt", "ocamlc", "ocamlfind", "ghc", "emcc", "em++", "swiftc", "libtool", "windres",
		"tcc", "icc", "icx", "icpx", "mpicc", "mpicxx", "objcopy", "moc", "uic", "rcc", "protoc", "f77", "dmd", "ldc2", "lld", "install":
		return true
	}
	return false
}

// commandOf returns the kind of a printed command.
func commandOf(l []byte) commandKind {
	if len(l) < 6 {
		return noCommand
	}
	if l[0] == ' ' {
		return shortCommand(l)
	}
	rest := l
	if l[0] == '[' { // a numbered step
		at := bytes.IndexByte(l, ']')
		if at < 4 || at+2 >= len(l) || text.DigitsEnd(l[1:], 0) == 0 || l[1+text.DigitsEnd(l[1:], 0)] != '/' {
			return noCommand
		}
		rest = l[at+2:]
	}
	rest = bytes.TrimPrefix(rest, []byte(": && "))
	for range 4 { // words before the program
		end := bytes.IndexByte(rest, ' ')
		if end <= 0 {
			return noCommand
		}
		word, args := rest[:end], rest[end+1:]
		name := word[bytes.LastIndexByte(word, '/')+1:]
		switch {
		case isCompilerName(name):
			args = text.Unindent(args)
			if string(name) == "ranlib" {
				return otherCommand
			}
			if len(args) == 0 || args[0] != '-' && !bytes.Contains(args, []byte(" -")) &&
				!bytes.HasPrefix(args, []byte("rc")) && !bytes.HasPrefix(args, []byte("cr")) &&
				!bytes.HasPrefix(args, []byte("qc")) && !bytes.HasPrefix(args, []byte("cq")) {
				return noCommand
			}
			if string(name) == "libtool" {
				return otherCommand
			}
			return compilerCommand(name, args)
		case string(name) == "ccache", string(name) == "distcc", string(name) == "sccache",
			string(name) == "sh", string(name) == "bash",
			bytes.IndexByte(word, '=') > 0 && word[0] >= 'A' && word[0] <= 'Z',
			bytes.HasPrefix(l, []byte("libtool: ")):
			rest = bytes.TrimLeft(args, " ")
		default:
			return noCommand
		}
	}
	return noCommand
}

// isCompilerName reports whether a program is a compiler, for any target and version.
func isCompilerName(name []byte) bool {
	if isCompiler(name) {
		return true
	}
	if n := len(name); n > 0 && name[n-1] >= '0' && name[n-1] <= '9' { // gcc-12
		if at := bytes.LastIndexByte(name, '-'); at > 0 {
			name = name[:at]
		}
	}
	if at := bytes.LastIndexByte(name, '-'); at > 0 && bytes.Count(name, []byte("-")) > 1 { // arm-none-eabi-gcc
		name = name[at+1:]
	}
	return isCompiler(name)
}

// compilerCommand distinguishes linking from compiling.
func compilerCommand(name, args []byte) commandKind {
	switch {
	case string(name) == "ar" || bytes.HasSuffix(name, []byte("-ar")):
		return linkCommand
	case bytes.HasPrefix(args, []byte("-c ")),
		bytes.Contains(args, []byte(" -c ")),
		bytes.Contains(args, []byte(" -E ")),
		bytes.Contains(args, []byte(" -S ")),
		bytes.Contains(args, []byte(" -M")),
		bytes.HasSuffix(args, []byte(" -c")):
		return otherCommand
	case bytes.HasPrefix(args, []byte("-o ")), bytes.Contains(args, []byte(" -o ")):
		return linkCommand
	}
	return otherCommand
}

// shortCommand parses " CC file.o", as quiet makefiles print it.
func shortCommand(l []byte) commandKind {
	in := text.Unindent(l)
	n := 0
	for n < len(in) && (in[n] >= 'A' && in[n] <= 'Z' || in[n] >= '0' && in[n] <= '9' || in[n] == '_') {
		n++
	}
	if n < 2 || n > 12 || n >= len(in) || in[n] != ' ' {
		return noCommand
	}
	word := in[:n]
	rest := text.Unindent(in[n:])
	switch string(word) {
	case "PASS", "FAIL", "ERROR", "WARN", "WARNING", "SKIP", "XFAIL", "XPASS", "INFO", "NOTE", "FATAL",
		"TODO", "OK", "NOT", "TOTAL", "FAILED", "PASSED", "SKIPPED", "TEST":
		return noCommand
	case "LD", "LINK", "CCLD", "CXXLD", "FCLD", "OBJCLD", "BUILD", "MKELF", "DLL":
		if !bytes.HasPrefix(rest, []byte("[M]")) && bytes.IndexByte(rest, ' ') < 0 && !bytes.HasSuffix(rest, []byte(".o")) {
			return linkCommand
		}
	}
	rest = bytes.TrimPrefix(rest, []byte("[M]"))
	rest = text.Unindent(rest)
	if len(rest) == 0 || bytes.IndexByte(rest, ' ') >= 0 || !bytes.ContainsAny(rest, "./-_") {
		return noCommand
	}
	return otherCommand
}

// maxCommand is the length in bytes beyond which a command is shortened to its
// product.
const maxCommand = 160

// commandProduct shortens a command to the program or library that it makes.
func commandProduct(l []byte) []byte {
	if len(l) <= maxCommand {
		return l
	}
	program, args, _ := bytes.Cut(l, []byte(" "))
	at := bytes.LastIndex(args, []byte("-o "))
	if at < 0 {
		words := bytes.Fields(l)
		head := bytes.Join(words[:min(3, len(words))], []byte(" "))
		return append(text.Prefix(head, maxCommand), " ..."...)
	}
	out, _, _ := bytes.Cut(args[at+3:], []byte(" "))
	short := append(append([]byte{}, text.Prefix(program, maxCommand)...), " ... -o "...)
	return append(append(short, text.Prefix(out, maxEcho)...), " ..."...)
}
