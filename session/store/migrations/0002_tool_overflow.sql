-- A text that was too long for the model: its parts, and the session whose it is.
CREATE TABLE tool_overflow (
	n       INTEGER PRIMARY KEY AUTOINCREMENT, -- never used again, so that nobody adds parts to a successor
	session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
	id      TEXT NOT NULL,
	created INTEGER NOT NULL,    -- time of the newest call that gave this text
	parts   INTEGER NOT NULL,    -- 0 while it is written, and while it is removed: it is not there then
	UNIQUE (session, id)
) STRICT;
CREATE INDEX tool_overflow_created ON tool_overflow (created);

CREATE TABLE tool_overflow_parts (
	entry INTEGER NOT NULL REFERENCES tool_overflow ON DELETE CASCADE,
	part  INTEGER NOT NULL,      -- from 0
	crc   INTEGER NOT NULL,      -- CRC-32 of data
	data  BLOB NOT NULL,
	PRIMARY KEY (entry, part)
) STRICT;
