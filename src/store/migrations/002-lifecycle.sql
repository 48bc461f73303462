-- Reopening, parking, conservation of work, budgets and the facts that recovery needs.
ALTER TABLE agents ADD COLUMN revivals $INT NOT NULL DEFAULT 0;
ALTER TABLE agents ADD COLUMN worktree_kind TEXT NOT NULL DEFAULT 'linked';
ALTER TABLE agents ADD COLUMN head_commit TEXT;
ALTER TABLE agents ADD COLUMN ahead $INT NOT NULL DEFAULT 0;
ALTER TABLE agents ADD COLUMN dirty $INT NOT NULL DEFAULT 0;
ALTER TABLE agents ADD COLUMN successor_name TEXT;
ALTER TABLE agents ADD COLUMN escalation_level $INT NOT NULL DEFAULT 0;
ALTER TABLE agents ADD COLUMN stalled_since $INT;
ALTER TABLE agents ADD COLUMN cleaned_at $INT;
ALTER TABLE agents ADD COLUMN instructions TEXT;
CREATE INDEX agents_to_clean ON agents(released_at) WHERE released_at IS NOT NULL AND cleaned_at IS NULL;
CREATE INDEX agents_stopping ON agents(name) WHERE stop_requested_by IS NOT NULL AND state NOT IN ('completed', 'zombie');


CREATE TABLE snapshots (
  seq $SEQ,
  agent_name TEXT NOT NULL,
  generation $INT NOT NULL,
  ref TEXT NOT NULL UNIQUE,
  commit_id TEXT NOT NULL,
  reason TEXT NOT NULL,
  skipped TEXT NOT NULL,
  created_at $INT NOT NULL
) $STRICT;
CREATE INDEX snapshots_agent ON snapshots(agent_name, seq);

CREATE TABLE usage (
  turn_id TEXT NOT NULL,
  message_id TEXT NOT NULL,
  agent_name TEXT NOT NULL,
  run_id TEXT NOT NULL,
  task_id TEXT,
  model TEXT,
  input $INT NOT NULL,
  output $INT NOT NULL,
  cache_read $INT NOT NULL,
  cache_write $INT NOT NULL,
  created_at $INT NOT NULL,
  PRIMARY KEY (turn_id, message_id)
) $STRICT;

CREATE TABLE budgets (
  scope TEXT NOT NULL,
  subject TEXT NOT NULL,
  unit TEXT NOT NULL,
  raised $INT NOT NULL,
  spent $INT NOT NULL,
  reserved $INT NOT NULL,
  warned $INT NOT NULL,
  updated_at $INT NOT NULL,
  PRIMARY KEY (scope, subject, unit)
) $STRICT;

CREATE TABLE budget_reservations (
  turn_id TEXT NOT NULL,
  scope TEXT NOT NULL,
  subject TEXT NOT NULL,
  unit TEXT NOT NULL,
  amount $INT NOT NULL,
  PRIMARY KEY (turn_id, scope, subject, unit)
) $STRICT;

CREATE TABLE checkpoints (
  agent_name TEXT PRIMARY KEY,
  generation $INT NOT NULL,
  task_id TEXT,
  turn_id TEXT,
  summary TEXT NOT NULL,
  files TEXT NOT NULL,
  branch TEXT,
  pending TEXT NOT NULL,
  updated_at $INT NOT NULL
) $STRICT;

CREATE TABLE handoffs (
  seq $SEQ,
  agent_name TEXT NOT NULL,
  from_generation $INT NOT NULL,
  to_generation $INT,
  reason TEXT NOT NULL,
  checkpoint TEXT NOT NULL,
  created_at $INT NOT NULL
) $STRICT;

CREATE TABLE identities (
  agent_name TEXT PRIMARY KEY,
  capability TEXT NOT NULL,
  created_at $INT NOT NULL,
  completed $INT NOT NULL,
  recent_tasks TEXT NOT NULL
) $STRICT;
