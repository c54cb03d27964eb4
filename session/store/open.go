package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"modernc.org/sqlite" // the only driver that needs no C compiler
	sqlite3 "modernc.org/sqlite/lib"
)

// applicationID marks the file as ours: "Zeph" in the header of the database.
const applicationID = 0x5a657068

// cacheKiB bounds the pages that SQLite keeps in memory. Appends touch a handful
// and a load each one once, so that more would not be faster.
const cacheKiB = 512

//go:embed migrations/*.sql
var migrations embed.FS

// handle is the open database: one connection, and the statements prepared on it
// so far.
type handle struct {
	path     string      // absolute, without symlinks
	file     os.FileInfo // what was opened
	readOnly bool
	until    time.Time // when to try anew, for one that can't be written; zero means never

	pool  *sql.DB
	conn  *sql.Conn
	stmts map[string]*sql.Stmt
}

func (h *handle) close() error {
	for _, s := range h.stmts {
		s.Close()
	}
	return errors.Join(h.conn.Close(), h.pool.Close())
}

// stmt returns the prepared query.
func (h *handle) stmt(query string) (*sql.Stmt, error) {
	if s := h.stmts[query]; s != nil {
		return s, nil
	}
	s, err := h.conn.PrepareContext(context.Background(), query)
	if err != nil {
		return nil, err
	}
	h.stmts[query] = s
	return s, nil
}

// exec runs a query without a result and returns the number of changed rows.
func (h *handle) exec(query string, args ...any) (int64, error) {
	s, err := h.stmt(query)
	if err != nil {
		return 0, err
	}
	r, err := s.ExecContext(context.Background(), args...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// one scans the only row of a query into dest; sql.ErrNoRows.
func (h *handle) one(dest []any, query string, args ...any) error {
	s, err := h.stmt(query)
	if err != nil {
		return err
	}
	return s.QueryRowContext(context.Background(), args...).Scan(dest...)
}

// each scans every row of a query into dest and calls next after each.
func (h *handle) each(ctx context.Context, next func() error, dest []any, query string, args ...any) error {
	s, err := h.stmt(query)
	if err != nil {
		return err
	}
	rows, err := s.QueryContext(context.Background(), args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := rows.Scan(dest...); err != nil { // a type that never was in that column
			return fmt.Errorf("%w: %w", errAltered, err)
		}
		if err := next(); err != nil {
			return err
		}
	}
	return rows.Err()
}

// open opens the database at path for writing, or for reading if that is all
// there is permission for. It makes the file if it is missing, and brings its
// schema up to date. A file that is not ours to change is not changed.
func open(path string, suspect bool) (*handle, error) {
	path, err := prepare(path)
	if err != nil {
		return nil, err
	}
	if err := inspect(path, suspect); err != nil {
		return nil, err
	}
	h, err := connect(path, "mode=rw&_txlock=immediate"+
		"&_pragma=synchronous(NORMAL)&_pragma=foreign_keys(1)"+
		"&_pragma=cell_size_check(1)"+ // notice damage before it spreads
		"&_pragma=secure_delete(1)"+ // what is deleted is gone; appending costs nothing more
		"&_pragma=journal_size_limit(4194304)") // bytes of WAL kept after a large event
	if err == nil {
		if err = h.migrate(); err == nil {
			return h, nil
		}
		h.close()
	}
	// Where -wal and -shm can't be made, only a file that no one writes can be read.
	if c := code(err); c != sqlite3.SQLITE_CANTOPEN && c != sqlite3.SQLITE_READONLY || wal(path) {
		return nil, err
	}
	h, ierr := connect(path, "mode=ro&immutable=1")
	if ierr != nil {
		return nil, err
	}
	h.readOnly = true
	if h.migrated() != nil { // it would have to be written first
		h.close()
		return nil, err
	}
	return h, nil
}

// prepare makes the file if it is missing, and returns its true path.
func prepare(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return "", err
		}
		// SQLite would give it the permissions of the umask, and -wal and -shm
		// those of the file. Closing a file that is new drops no one's locks.
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
		if err != nil && !errors.Is(err, fs.ErrExist) { // another process may be first
			return "", err
		} else if err == nil {
			f.Close()
		}
	} else if err != nil {
		return "", err
	} else if !info.Mode().IsRegular() {
		return "", errNoFile
	}
	return filepath.EvalSymlinks(path)
}

// wal says whether there are commits that are not in the database itself.
func wal(path string) bool {
	info, err := os.Stat(path + "-wal")
	return err == nil && info.Size() > 0
}

// inspect looks, without changing anything, whether the file is ours and of a
// version that we know; and at every page of it where it is suspect.
func inspect(path string, suspect bool) error {
	info, err := os.Stat(path)
	if err != nil || info.Size() == 0 { // new
		return err
	}
	if !wal(path) {
		err := look(path, "mode=ro&immutable=1", suspect) // without locks: makes no -wal and no -shm
		if err == nil || !wal(path) {
			return err
		}
		// Another process has begun to write under our eyes.
	}
	return look(path, "mode=ro", suspect)
}

func look(path, mode string, suspect bool) error {
	h, err := connect(path, mode)
	if err != nil {
		return err
	}
	defer h.close()
	if err := h.ours(); err != nil || !suspect {
		return err
	}
	var verdict string
	if err := h.one([]any{&verdict}, "PRAGMA quick_check(1)"); err != nil {
		return err
	}
	if verdict != "ok" {
		return fmt.Errorf("%w: %s", errDamaged, verdict)
	}
	return nil
}

// connect opens the existing file with the given parameters of the DSN.
func connect(path, params string) (*handle, error) {
	info, err := os.Stat(path) // before: if the file is replaced now, handle notices
	if err != nil {
		return nil, err
	}
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // C:/...
	}
	dsn := url.URL{Scheme: "file", Path: slashed, RawQuery: fmt.Sprintf(
		"_busy_timeout=%d&_error_rc=1&_pragma=cache_size(-%d)&%s", BusyTimeout.Milliseconds(), cacheKiB, params)}
	connector, err := sqlite.NewConnector(dsn.String())
	if err != nil {
		return nil, err
	}
	pool := sql.OpenDB(connector)
	pool.SetMaxOpenConns(1)
	conn, err := pool.Conn(context.Background())
	if err != nil {
		pool.Close()
		return nil, err
	}
	return &handle{path: path, file: info, pool: pool, conn: conn, stmts: map[string]*sql.Stmt{}}, nil
}

// version is that of the schema: the number of migrations that were run.
func (h *handle) version() (v int, err error) {
	err = h.one([]any{&v}, "PRAGMA user_version")
	return v, err
}

// known is the newest schema version that this program knows.
func known() int {
	files, _ := migrations.ReadDir("migrations") // embedded: it is there
	return len(files)
}

// ours refuses a database of a newer version and one of another program.
func (h *handle) ours() error {
	v, err := h.version()
	if err != nil {
		return err
	}
	if v > known() {
		return &NewerError{Version: v, Known: known()}
	}
	var id, objects int
	if err := h.one([]any{&id}, "PRAGMA application_id"); err != nil {
		return err
	}
	if err := h.one([]any{&objects}, "SELECT count(*) FROM sqlite_schema"); err != nil {
		return err
	}
	if id != applicationID && (id != 0 || v != 0 || objects != 0) {
		return errForeign
	}
	return nil
}

// migrated is an error unless the schema is the one that this program knows:
// another process may have brought it further.
func (h *handle) migrated() error {
	v, err := h.version()
	if err != nil {
		return err
	}
	if v > known() {
		return &NewerError{Version: v, Known: known()}
	}
	if v < known() {
		return fmt.Errorf("schema version %d, want %d", v, known())
	}
	return nil
}

// migrate runs the migrations that the database has not seen. Of several
// processes one does it, the others wait for it.
func (h *handle) migrate() error {
	if err := h.useWAL(); err != nil {
		return err
	}
	if v, err := h.version(); err != nil || v == known() {
		return err
	}
	ctx := context.Background()
	tx, err := h.conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := h.ours(); err != nil { // now that no one else can change it
		return err
	}
	v, err := h.version()
	if err != nil {
		return err
	}
	files, err := migrations.ReadDir("migrations") // sorted by name
	if err != nil {
		return err
	}
	for _, f := range files[v:] {
		script, err := migrations.ReadFile("migrations/" + f.Name())
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, string(script)); err != nil {
			return fmt.Errorf("%s: %w", f.Name(), err)
		}
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id=%d; PRAGMA user_version=%d", applicationID, len(files))); err != nil {
		return err
	}
	return tx.Commit()
}

// useWAL makes the file a WAL database, which it then stays. SQLite does not wait
// for others here, lest two that do it at once wait for each other.
func (h *handle) useWAL() error {
	for deadline := time.Now().Add(BusyTimeout); ; time.Sleep(10 * time.Millisecond) {
		var mode string
		err := h.one([]any{&mode}, "PRAGMA journal_mode=WAL")
		if code(err) != sqlite3.SQLITE_BUSY || time.Now().After(deadline) {
			return err
		}
	}
}
