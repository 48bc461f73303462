-- Files that a task changes together with other tasks. Tasks and agents of earlier versions share none.
ALTER TABLE tasks ADD COLUMN shares TEXT NOT NULL DEFAULT '[]';
ALTER TABLE agents ADD COLUMN shares TEXT NOT NULL DEFAULT '[]';
