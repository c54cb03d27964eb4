-- A task that runs without its user. Times are microseconds since 1970 in UTC; 0 means no
-- such time.
CREATE TABLE tasks (
	n       INTEGER PRIMARY KEY AUTOINCREMENT,
	cwd     TEXT NOT NULL,
	name    TEXT NOT NULL,
	session TEXT NOT NULL,       -- that set it; it may be deleted
	cron    TEXT NOT NULL,       -- '' for a task that runs once
	prompt  TEXT NOT NULL,
	mode    TEXT NOT NULL,
	typed   INTEGER NOT NULL,    -- 1: the user wrote the prompt
	next    INTEGER NOT NULL,    -- when it is due; 0: never again
	created INTEGER NOT NULL,
	updated INTEGER NOT NULL,
	UNIQUE (cwd, name)
) STRICT;

-- A run of a task. A process that runs it holds the lease "task:N".
CREATE TABLE task_runs (
	n        INTEGER PRIMARY KEY AUTOINCREMENT,
	task     INTEGER NOT NULL REFERENCES tasks ON DELETE CASCADE,
	due      INTEGER NOT NULL,
	started  INTEGER NOT NULL,
	ended    INTEGER NOT NULL,   -- 0 until it ends
	session  TEXT NOT NULL,      -- of the run; '' until it has one
	attempts INTEGER NOT NULL,   -- the number of processes that ran it
	outcome  TEXT NOT NULL,
	result   TEXT NOT NULL,
	position INTEGER NOT NULL    -- in the order of the ends, from 1; 0 until it ends
) STRICT;
CREATE INDEX task_runs_task ON task_runs (task, n);
CREATE INDEX task_runs_open ON task_runs (task) WHERE ended = 0;
