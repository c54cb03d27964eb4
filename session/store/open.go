package store

import (
	"cmp"
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
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

// cacheKiB limits the pages that SQLite keeps in memory. An append accesses a
// few pages and a load each page once, so a larger cache would not help.
const cacheKiB = 512

const (
	begin  = "BEGIN IMMEDIATE"
	commit = "COMMIT"
)

//go:embed migrations/*.sql
var migrations embed.FS

// handle is the open database: one connection and its prepared statements.
type handle struct {
	path     string      // absolute, without symlinks
	file     os.FileInfo // the opened file
	readOnly bool
	retryAt  time.Time // when to retry after a failed write; zero means never
	loss     string    // for the user: the content of the WAL that is lost

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

// change is exec for a query that must change a row. It returns missing if there is no such row.
func (h *handle) change(missing error, query string, args ...any) error {
	n, err := h.exec(query, args...)
	if err == nil && n == 0 {
		return missing
	}
	return err
}

// inTransaction runs do in the transaction that has begun, and commits it, or rolls it back
// after an error or a panic. Prepared statements do so, since a sql.Tx costs a goroutine
// and compiles them each time.
func (h *handle) inTransaction(do func(*handle) error) error {
	committed := false
	defer func() {
		if !committed {
			_, _ = h.exec("ROLLBACK") // SQLite may have done it already
		}
	}()
	if err := h.checkVersion(); err != nil {
		return err
	}
	if err := do(h); err != nil {
		return err
	}
	_, err := h.exec(commit)
	committed = err == nil
	return err
}

// beginAtOnce begins a transaction, without waiting for a lock. The timeout changes when its
// PRAGMA is compiled, so these statements cannot be prepared ones.
func (h *handle) beginAtOnce() error {
	ctx := context.Background()
	if _, err := h.conn.ExecContext(ctx, "PRAGMA busy_timeout=0"); err != nil {
		return err
	}
	_, err := h.exec(begin)
	_, reset := h.conn.ExecContext(ctx, fmt.Sprintf("PRAGMA busy_timeout=%d", busyTimeout.Milliseconds()))
	return cmp.Or(err, reset)
}

// one scans the only row of a query into dest; without a row it returns
// sql.ErrNoRows.
func (h *handle) one(dest []any, query string, args ...any) error {
	s, err := h.stmt(query)
	if err != nil {
		return err
	}
	return s.QueryRowContext(context.Background(), args...).Scan(dest...)
}

// each scans every row of a query into dest and calls next after each one.
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
		if err := rows.Scan(dest...); err != nil { // a type that this column never had
			return fmt.Errorf("%w: %w", errAltered, err)
		}
		if err := next(); err != nil {
			return err
		}
	}
	return rows.Err()
}

// open opens the database at path for writing, or for reading if permissions
// allow only that. It creates a missing file and migrates the schema. It does
// not change the file of another program or of a newer version.
func open(path string, suspect bool) (*handle, error) {
	path, created, err := createFile(path)
	if err != nil {
		return nil, err
	}
	tail := &lostTail{}
	if !created {
		if tail, err = readTail(path); err != nil { // before SQLite overwrites it
			return nil, err
		}
		if err := inspect(path, suspect); err != nil {
			return nil, err
		}
	}
	h, err := connect(path, "mode=rw&_txlock=immediate"+
		"&_pragma=synchronous(NORMAL)&_pragma=foreign_keys(1)"+
		"&_pragma=cell_size_check(1)"+ // detects damage before it spreads
		"&_pragma=secure_delete(1)"+ // overwrites deleted data; appending costs nothing more
		"&_pragma=journal_size_limit(4194304)") // bytes of WAL kept after a large event
	if err == nil {
		if err = h.setUp(created, tail); err == nil {
			return h, nil
		}
		h.close()
	}
	// Without permission to create -wal and -shm, a file can be read only if no
	// one writes to it.
	if c := sqliteCode(err); c != sqlite3.SQLITE_CANTOPEN && c != sqlite3.SQLITE_READONLY || walHasCommits(path) {
		return nil, err
	}
	h, ierr := connect(path, "mode=ro&immutable=1")
	if ierr != nil {
		return nil, err
	}
	h.readOnly = true
	if h.checkVersion() != nil { // a migration would have to write
		h.close()
		return nil, err
	}
	return h, nil
}

// setUp brings the schema up to date. tail is the part of the WAL that SQLite
// seems to have dropped when it opened the file.
func (h *handle) setUp(created bool, tail *lostTail) error {
	if tail.isLoss() {
		tail = h.confirmTail(tail)
	}
	if err := h.migrate(); err != nil {
		return err
	}
	if created {
		if err := h.startNewWAL(); err != nil {
			return err
		}
	}
	if tail.isLoss() {
		h.loss = h.describeLoss(tail)
	}
	return nil
}

// walHasCommits reports whether some commits are not yet in the database file.
func walHasCommits(path string) bool {
	info, err := os.Stat(path + "-wal")
	return err == nil && info.Size() > 0
}

// inspect checks without changing anything that the file is ours and of a known
// version. If the file is suspect, it checks every page.
func inspect(path string, suspect bool) error {
	info, err := os.Stat(path)
	if err != nil || info.Size() == 0 { // a new file
		return err
	}
	if !walHasCommits(path) {
		err := inspectMode(path, "mode=ro&immutable=1", suspect) // without locks, so it creates neither -wal nor -shm
		if err == nil || !walHasCommits(path) {
			return err
		}
		// Another process began to write during the check.
	}
	return inspectMode(path, "mode=ro", suspect)
}

// inspectMode is inspect with these parameters of the DSN.
func inspectMode(path, mode string, suspect bool) error {
	h, err := connect(path, mode)
	if err != nil {
		return err
	}
	defer h.close()
	if err := h.checkOwner(); err != nil || !suspect {
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
	info, err := os.Stat(path) // before connecting, so that handle notices a file that is replaced now
	if err != nil {
		return nil, err
	}
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // C:/...
	}
	dsn := url.URL{Scheme: "file", Path: slashed, RawQuery: fmt.Sprintf(
		"_busy_timeout=%d&_error_rc=1&_pragma=cache_size(-%d)&%s", busyTimeout.Milliseconds(), cacheKiB, params)}
	h, err := dial(dsn.String())
	if err != nil {
		return nil, err
	}
	h.path, h.file = path, info
	return h, nil
}

// dial opens the database of a DSN.
func dial(dsn string) (*handle, error) {
	connector, err := sqlite.NewConnector(dsn)
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
	return &handle{pool: pool, conn: conn, stmts: map[string]*sql.Stmt{}}, nil
}

// version returns the version of the schema, the number of its migrations.
func (h *handle) version() (v int, err error) {
	err = h.one([]any{&v}, "PRAGMA user_version")
	return v, err
}

// knownVersion returns the newest schema version known to this program.
func knownVersion() int {
	files, _ := migrations.ReadDir("migrations") // embedded, so it exists
	return len(files)
}

// checkOwner returns an error for a database of a newer version or of another
// program.
func (h *handle) checkOwner() error {
	// One statement sees one state, even if another process creates the schema at that
	// moment.
	const query = "SELECT user_version, application_id, (SELECT count(*) FROM sqlite_schema) FROM pragma_user_version, pragma_application_id"
	var v, id, objects int
	if err := h.one([]any{&v, &id, &objects}, query); err != nil {
		return err
	}
	if v > knownVersion() {
		return &NewerError{Version: v, Known: knownVersion()}
	}
	if id != applicationID && (id != 0 || v != 0 || objects != 0) {
		return errForeign
	}
	return nil
}

// checkVersion returns an error unless the schema has exactly the known version:
// another process may have migrated it further.
func (h *handle) checkVersion() error {
	v, err := h.version()
	if err != nil {
		return err
	}
	if v > knownVersion() {
		return &NewerError{Version: v, Known: knownVersion()}
	}
	if v < knownVersion() {
		return fmt.Errorf("schema version %d, want %d", v, knownVersion())
	}
	return nil
}

// migrate runs the missing migrations. If several processes try, one does it
// and the others wait.
func (h *handle) migrate() error {
	v, err := h.version()
	if err == nil && v == 0 {
		err = h.setIncremental() // before there are pages
	}
	if err != nil {
		return err
	}
	if err := h.useWAL(); err != nil {
		return err
	}
	if v == knownVersion() {
		return nil
	}
	ctx := context.Background()
	tx, err := h.conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := h.checkOwner(); err != nil { // now that no one else can change it
		return err
	}
	if v, err = h.version(); err != nil {
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

// useWAL converts the file to WAL mode, which is permanent. It retries itself: SQLite
// does not wait here, since two processes could wait for each other.
func (h *handle) useWAL() error {
	for deadline := time.Now().Add(busyTimeout); ; time.Sleep(10 * time.Millisecond) {
		var mode string
		err := h.one([]any{&mode}, "PRAGMA journal_mode=WAL")
		if sqliteCode(err) != sqlite3.SQLITE_BUSY || time.Now().After(deadline) {
			return err
		}
	}
}
