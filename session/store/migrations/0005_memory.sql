-- A fact that was saved for later sessions. Times are microseconds since 1970 in UTC.
CREATE TABLE memories (
	n       INTEGER PRIMARY KEY AUTOINCREMENT, -- never used again: people and models name entries by it
	project TEXT NOT NULL,    -- its directory; empty: all projects
	hash    BLOB NOT NULL,    -- stands for all texts that count as equal
	text    TEXT NOT NULL,
	session TEXT NOT NULL,    -- that saved it last, and need not be stored; empty: a command did
	files   TEXT NOT NULL,    -- JSON: the hashes of the files that it cites, by path
	labels  TEXT NOT NULL,    -- JSON of the package that labels sessions; may be empty
	created INTEGER NOT NULL,
	updated INTEGER NOT NULL,
	model   TEXT,             -- of vector
	vector  BLOB,             -- 32-bit floats, little endian
	UNIQUE (project, hash)
) STRICT;
CREATE TRIGGER memories_deleted AFTER DELETE ON memories BEGIN
	DELETE FROM words WHERE rowid = -old.n;
END;

-- A message of a session that can be searched.
CREATE TABLE messages (
	n       INTEGER PRIMARY KEY,
	session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
	role    TEXT NOT NULL,
	time    INTEGER NOT NULL
) STRICT;
CREATE INDEX messages_session ON messages (session);
CREATE TRIGGER messages_deleted AFTER DELETE ON messages BEGIN
	DELETE FROM words WHERE rowid = old.n;
END;

-- How far the log of a session was read for its messages.
CREATE TABLE messages_read (
	session INTEGER PRIMARY KEY REFERENCES sessions ON DELETE CASCADE,
	last    INTEGER NOT NULL  -- seq
) STRICT;

-- The words of messages, by their n, and of memories, by -n. One table for both: each
-- is five tables for SQLite, which every opening of the database has to parse.
CREATE VIRTUAL TABLE words USING fts5 (text, parts, tokenize = 'porter unicode61 remove_diacritics 2');
INSERT INTO words (words, rank) VALUES ('secure-delete', 1);
