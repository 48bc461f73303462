-- The merge queue, what was tried, what gates found, what landed, and what is remembered for the next conflict.
CREATE TABLE merge_queue (
  id $SEQ,
  branch TEXT NOT NULL,
  head_commit TEXT NOT NULL,
  target_branch TEXT NOT NULL,
  task_id TEXT,
  agent_name TEXT,
  run_id TEXT,
  files_modified TEXT NOT NULL,
  depends_on TEXT NOT NULL,
  priority $INT NOT NULL,
  source TEXT NOT NULL,
  enqueued_by TEXT NOT NULL,
  enqueued_at $INT NOT NULL,
  status TEXT NOT NULL,
  approval TEXT NOT NULL,
  tier TEXT,
  strategy TEXT,
  verdict TEXT,
  attempts $INT NOT NULL,
  not_before $INT NOT NULL,
  result_commit TEXT,
  cause TEXT,
  cause_detail TEXT,
  updated_at $INT NOT NULL
) $STRICT;
CREATE UNIQUE INDEX merge_queue_open ON merge_queue(branch, target_branch)
  WHERE status IN ('pending', 'merging', 'gating', 'blocked');
CREATE INDEX merge_queue_branch ON merge_queue(branch, id);
CREATE INDEX merge_queue_task ON merge_queue(task_id, id);
CREATE INDEX merge_queue_run ON merge_queue(run_id, id);

CREATE TABLE merge_attempts (
  id TEXT PRIMARY KEY,
  train_id TEXT NOT NULL,
  queue_ids TEXT NOT NULL,
  base_commit TEXT NOT NULL,
  candidate_commit TEXT,
  outcome TEXT,
  gate_results TEXT NOT NULL,
  started_at $INT NOT NULL,
  finished_at $INT,
  log_dir TEXT
) $STRICT;
CREATE INDEX merge_attempts_open ON merge_attempts(started_at) WHERE outcome IS NULL;

CREATE TABLE gate_results (
  id TEXT PRIMARY KEY,
  tree TEXT NOT NULL,
  gate TEXT NOT NULL,
  command TEXT NOT NULL,
  gate_hash TEXT NOT NULL,
  status TEXT NOT NULL,
  exit_code $INT,
  duration_ms $INT NOT NULL,
  log_path TEXT NOT NULL,
  log_digest TEXT NOT NULL,
  flaky $INT NOT NULL,
  kept TEXT NOT NULL,
  created_at $INT NOT NULL
) $STRICT;
CREATE INDEX gate_results_tree ON gate_results(tree, gate_hash, created_at);
CREATE INDEX gate_results_created ON gate_results(created_at);

CREATE TABLE receipts (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  subject TEXT NOT NULL,
  base_commit TEXT,
  head_commit TEXT NOT NULL,
  tree TEXT NOT NULL,
  verdict TEXT NOT NULL,
  results TEXT NOT NULL,
  gaps TEXT NOT NULL,
  created_at $INT NOT NULL
) $STRICT;
CREATE INDEX receipts_subject ON receipts(subject, created_at);

CREATE TABLE merge_ops (
  seq $SEQ,
  id TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  ref TEXT NOT NULL,
  before_commit TEXT,
  after_commit TEXT,
  queue_ids TEXT NOT NULL,
  actor TEXT NOT NULL,
  status TEXT NOT NULL,
  undoes TEXT,
  undone_by TEXT,
  request TEXT NOT NULL,
  problem TEXT,
  created_at $INT NOT NULL,
  updated_at $INT NOT NULL
) $STRICT;
CREATE INDEX merge_ops_intended ON merge_ops(seq) WHERE status = 'intended';

CREATE TABLE remembered_resolutions (
  fingerprint TEXT PRIMARY KEY,
  path TEXT NOT NULL,
  content TEXT NOT NULL,
  strategy TEXT NOT NULL,
  landed_at $INT NOT NULL,
  bad $INT NOT NULL
) $STRICT;

CREATE TABLE radar_pairs (
  a_commit TEXT NOT NULL,
  b_commit TEXT NOT NULL,
  outcome TEXT NOT NULL,
  files TEXT NOT NULL,
  created_at $INT NOT NULL,
  PRIMARY KEY (a_commit, b_commit)
) $STRICT;

CREATE TABLE radar_warnings (
  branch_a TEXT NOT NULL,
  branch_b TEXT NOT NULL,
  files_digest TEXT NOT NULL,
  created_at $INT NOT NULL,
  PRIMARY KEY (branch_a, branch_b, files_digest)
) $STRICT;
