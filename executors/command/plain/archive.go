package plain

import (
	"errors"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// decompressors are the programs that tar starts for a compressed archive.
var decompressors = []string{"bzip2", "compress", "grzip", "gzip", "lrzip", "lz4", "lzip", "lzma", "lzop", "xz", "zstd"}

var (
	tarLists    = lazyregexp.New(`^-?[vzjJa]*t[vzjJa]*f$`)
	unzipLists  = lazyregexp.New(`^-([lvt]q{0,2}|q{0,2}[lvt]|lv|Z1?|p|pq)$`)
	zipinfoList = lazyregexp.New(`^-[12sml]?$`)
)

// acceptTar accepts "tar tf ARCHIVE", which lists the members of an archive. GNU's tar reads an
// archive with a colon in its name from another machine.
func acceptTar(b *builder, c *Command, args []Word) (*acceptedCommand, error) {
	if len(args) < 2 || !args[0].literal() || !tarLists.MatchString(args[0].text()) {
		return nil, errors.New("tar: it may do more than list an archive")
	}
	if strings.Contains(args[1].text(), ":") {
		return nil, errors.New("tar: the archive may be on another machine")
	}
	return acceptArchive(b, c, args, 1, decompressors...)
}

// acceptUnzip accepts the options of unzip that list, test or print members of an archive.
func acceptUnzip(b *builder, c *Command, args []Word) (*acceptedCommand, error) {
	if len(args) < 2 || !args[0].literal() || !unzipLists.MatchString(args[0].text()) {
		return nil, errors.New("unzip: it may write the members of the archive")
	}
	return acceptZip(b, c, args, 1)
}

func acceptZipinfo(b *builder, c *Command, args []Word) (*acceptedCommand, error) {
	archive := 0
	if len(args) > 1 && args[0].literal() && zipinfoList.MatchString(args[0].text()) {
		archive = 1
	}
	return acceptZip(b, c, args, archive)
}

// acceptZip accepts an archive, which unzip also looks for with another ending.
func acceptZip(b *builder, c *Command, args []Word, archive int) (*acceptedCommand, error) {
	out, err := acceptArchive(b, c, args, archive)
	if err != nil {
		return nil, err
	}
	name := out.files[0]
	if strings.ContainsAny(name.Text, `*?[\`) {
		return nil, errors.New("the name of the archive is a pattern")
	}
	for _, ending := range []string{".zip", ".ZIP"} {
		other := name
		other.Text += ending
		out.files = append(out.files, other)
	}
	return out, nil
}

// acceptArchive accepts options, the name of an archive and the names of its members.
func acceptArchive(b *builder, c *Command, args []Word, archive int, starts ...string) (*acceptedCommand, error) {
	out := inScriptOrder(c)
	out.starts = starts
	for i, w := range args {
		switch {
		case !w.literal():
			return nil, errorf("%s is computed at run time", w.source)
		case i >= archive && (w.text() == "" || strings.IndexByte("-@+", w.text()[0]) >= 0):
			return nil, errorf("%s may be an option", w.source)
		}
	}
	if archive >= len(args) {
		return nil, errors.New("it names no archive")
	}
	out.files = []File{{Text: args[archive].text(), Dirs: b.dirs, Opens: true}}
	return out, nil
}
