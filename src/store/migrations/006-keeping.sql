-- Who takes a worktree away at the moment, so that no seat is made in it; and which directory an agent was given.
CREATE TABLE removals (
  agent_name TEXT PRIMARY KEY NOT NULL,
  pid $INT NOT NULL,
  start_token TEXT NOT NULL,
  boot_id TEXT NOT NULL,
  created_at $INT NOT NULL
) $STRICT;

ALTER TABLE agents ADD COLUMN worktree_identity TEXT;
