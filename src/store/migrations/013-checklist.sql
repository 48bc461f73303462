-- The objective of a run as numbered criteria, each with its proof or the reason why it need not be met. Runs from before
-- this have no checklist.
ALTER TABLE runs ADD COLUMN checklist $INT NOT NULL DEFAULT 0;
CREATE TABLE criteria (
  run_id TEXT NOT NULL,
  number $INT NOT NULL,
  text TEXT NOT NULL,
  added_by TEXT NOT NULL,
  added_at $INT NOT NULL,
  waived_by TEXT,
  waived_at $INT,
  waive_reason TEXT,
  proof_kind TEXT,
  proof_path TEXT,
  proof_test TEXT,
  proof_commit TEXT,
  proved_by TEXT,
  proved_at $INT,
  checked_commit TEXT,
  PRIMARY KEY (run_id, number)
) $STRICT;
CREATE TABLE task_criteria (
  task_id TEXT NOT NULL,
  run_id TEXT NOT NULL,
  number $INT NOT NULL,
  PRIMARY KEY (task_id, run_id, number)
) $STRICT;
CREATE INDEX task_criteria_run ON task_criteria (run_id, number);
