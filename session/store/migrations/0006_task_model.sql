-- The model of the runs of a task: that of the session that set it. '' is the default one.
ALTER TABLE tasks ADD COLUMN model TEXT NOT NULL DEFAULT '';
