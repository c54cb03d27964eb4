-- A session and its log. Times are microseconds since 1970 in UTC.
CREATE TABLE sessions (
	n       INTEGER PRIMARY KEY, -- stands for id in events: an index entry of 8 bytes instead of 40
	id      TEXT NOT NULL UNIQUE,
	cwd     TEXT NOT NULL,
	dirs    TEXT NOT NULL,       -- JSON array of paths
	title   TEXT NOT NULL,
	created INTEGER NOT NULL,
	updated INTEGER NOT NULL,
	last    INTEGER NOT NULL     -- seq of the newest event, which is their number too
) STRICT;
CREATE INDEX sessions_updated ON sessions (updated DESC, id);
CREATE INDEX sessions_cwd ON sessions (cwd, updated DESC, id);

-- An event is one row, or several where its payload is large: SQLite handles a
-- value as a whole, in memory that it keeps. With a rowid: a WITHOUT ROWID table has
-- its rows in the inner pages of the tree, which such payloads would fill.
CREATE TABLE events (
	session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
	seq     INTEGER NOT NULL,
	part    INTEGER NOT NULL,    -- from 0
	parts   INTEGER NOT NULL,
	time    INTEGER NOT NULL,
	kind    TEXT NOT NULL,
	crc     INTEGER NOT NULL,    -- CRC-32 of data: SQLite itself has no checksums
	data    BLOB NOT NULL,
	PRIMARY KEY (session, seq, part)
) STRICT;

-- Who runs a turn of a session now. The session need not be stored yet.
CREATE TABLE leases (
	session TEXT PRIMARY KEY,
	holder  TEXT NOT NULL,
	beat    INTEGER NOT NULL,    -- time of the last heartbeat
	host    TEXT NOT NULL,       -- where pid means something
	pid     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
