-- What a team needs: checks that are asked for now and answered when their gates have run.
CREATE TABLE checks (
  seq $SEQ,
  id TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  agent_id TEXT,
  agent_name TEXT,
  ref_name TEXT NOT NULL,
  commit_id TEXT,
  status TEXT NOT NULL,
  request TEXT NOT NULL,
  progress TEXT,
  verdict TEXT,
  receipt_id TEXT,
  problem TEXT NOT NULL,
  attempts $INT NOT NULL,
  requested_by TEXT NOT NULL,
  created_at $INT NOT NULL,
  updated_at $INT NOT NULL
) $STRICT;
CREATE INDEX checks_open ON checks(seq) WHERE status IN ('queued', 'running');
CREATE INDEX checks_agent ON checks(agent_id, seq);
