package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io/fs"
	"slices"
	"strings"
	"time"
)

// file is one file of an archive.
type file struct {
	name    string // with slashes, relative
	content []byte
	mode    fs.FileMode
}

func archiveSuffix(t target) string {
	if t.os == "windows" {
		return ".zip"
	}
	return ".tar.gz"
}

// writeArchive writes the files below a directory of that name. The bytes depend
// on the arguments alone: the files are sorted, their owner is root, and their time is the
// given one.
func writeArchive(t target, name string, date time.Time, files []file) ([]byte, error) {
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	if t.os == "windows" {
		return writeZip(name, date, files)
	}
	return writeTar(name, date, files)
}

func writeTar(name string, date time.Time, files []file) ([]byte, error) {
	var b bytes.Buffer
	compressed, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(compressed)
	for _, f := range files {
		header := &tar.Header{
			Typeflag: tar.TypeReg, Name: name + "/" + f.name, Size: int64(len(f.content)), Mode: int64(f.mode),
			ModTime: date, Uname: "root", Gname: "root", Format: tar.FormatUSTAR,
		}
		if err := w.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	err = compressed.Close()
	return b.Bytes(), err
}

func writeZip(name string, date time.Time, files []file) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		header := &zip.FileHeader{Name: name + "/" + f.name, Method: zip.Deflate, Modified: date}
		header.SetMode(f.mode)
		to, err := w.CreateHeader(header)
		if err != nil {
			return nil, err
		}
		if _, err := to.Write(f.content); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}
