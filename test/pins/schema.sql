PRAGMA user_version = 32;

CREATE TABLE agents (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  generation INTEGER NOT NULL,
  capability TEXT NOT NULL,
  runtime TEXT NOT NULL,
  model TEXT,
  topology TEXT NOT NULL,
  parent_name TEXT NOT NULL,
  depth INTEGER NOT NULL,
  run_id TEXT NOT NULL REFERENCES runs(id),
  task_id TEXT,
  spec_path TEXT,
  scope TEXT NOT NULL,
  worktree_path TEXT,
  branch TEXT,
  base_ref TEXT,
  base_commit TEXT,
  env_file TEXT,
  state TEXT NOT NULL,
  state_version INTEGER NOT NULL,
  outcome TEXT,
  stop_requested_by TEXT,
  provider_session_id TEXT,
  reminders INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  last_activity_at INTEGER NOT NULL,
  ended_at INTEGER,
  released_at INTEGER, revivals INTEGER NOT NULL DEFAULT 0, worktree_kind TEXT NOT NULL DEFAULT 'linked', head_commit TEXT, ahead INTEGER NOT NULL DEFAULT 0, dirty INTEGER NOT NULL DEFAULT 0, successor_name TEXT, escalation_level INTEGER NOT NULL DEFAULT 0, stalled_since INTEGER, cleaned_at INTEGER, instructions TEXT, worktree_identity TEXT, driver TEXT NOT NULL DEFAULT 'stream-json', cli_version TEXT, shares TEXT NOT NULL DEFAULT '[]', model_terms TEXT, runtime_spec TEXT,
  UNIQUE (name, generation)
) STRICT;

CREATE INDEX agents_live ON agents(run_id) WHERE state NOT IN ('completed', 'zombie');

CREATE UNIQUE INDEX agents_one_live_per_name ON agents(name) WHERE state NOT IN ('completed', 'zombie');

CREATE INDEX agents_parent ON agents(parent_name);

CREATE INDEX agents_run ON agents(run_id);

CREATE INDEX agents_stopping ON agents(name) WHERE stop_requested_by IS NOT NULL AND state NOT IN ('completed', 'zombie');

CREATE INDEX agents_task ON agents(task_id);

CREATE INDEX agents_to_clean ON agents(released_at) WHERE released_at IS NOT NULL AND cleaned_at IS NULL;

CREATE INDEX agents_unseated ON agents(started_at) WHERE worktree_path IS NULL AND state = 'booting';

CREATE TABLE audit (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  caller TEXT NOT NULL,
  action TEXT NOT NULL,
  refused INTEGER NOT NULL,
  detail TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE budget_reservations (
  turn_id TEXT NOT NULL,
  scope TEXT NOT NULL,
  subject TEXT NOT NULL,
  unit TEXT NOT NULL,
  amount INTEGER NOT NULL,
  PRIMARY KEY (turn_id, scope, subject, unit)
) STRICT;

CREATE TABLE budgets (
  scope TEXT NOT NULL,
  subject TEXT NOT NULL,
  unit TEXT NOT NULL,
  raised INTEGER NOT NULL,
  spent INTEGER NOT NULL,
  reserved INTEGER NOT NULL,
  warned INTEGER NOT NULL,
  updated_at INTEGER NOT NULL, given INTEGER, unpriced INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (scope, subject, unit)
) STRICT;

CREATE INDEX budgets_days ON budgets(updated_at, subject) WHERE scope = 'day';

CREATE TABLE checkpoints (
  agent_name TEXT PRIMARY KEY,
  generation INTEGER NOT NULL,
  task_id TEXT,
  turn_id TEXT,
  summary TEXT NOT NULL,
  files TEXT NOT NULL,
  branch TEXT,
  pending TEXT NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE checks (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
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
  attempts INTEGER NOT NULL,
  requested_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE INDEX checks_agent ON checks(agent_id, seq);

CREATE INDEX checks_answered ON checks(updated_at, id) WHERE status IN ('done', 'failed');

CREATE INDEX checks_open ON checks(seq) WHERE status IN ('queued', 'running');

CREATE TABLE criteria (
  run_id TEXT NOT NULL,
  number INTEGER NOT NULL,
  text TEXT NOT NULL,
  added_by TEXT NOT NULL,
  added_at INTEGER NOT NULL,
  waived_by TEXT,
  waived_at INTEGER,
  waive_reason TEXT,
  proof_kind TEXT,
  proof_path TEXT,
  proof_test TEXT,
  proof_commit TEXT,
  proved_by TEXT,
  proved_at INTEGER,
  checked_commit TEXT, proof_unchanged INTEGER NOT NULL DEFAULT 0, proof_lost TEXT,
  PRIMARY KEY (run_id, number)
) STRICT;

CREATE TABLE deliveries (
  message_seq INTEGER NOT NULL REFERENCES messages(seq) ON DELETE CASCADE,
  to_agent TEXT NOT NULL,
  state TEXT NOT NULL,
  priority_rank INTEGER NOT NULL,
  wake INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  not_before INTEGER NOT NULL,
  claimed_by TEXT,
  claim_expires INTEGER,
  turn_id TEXT,
  channel TEXT,
  redelivered INTEGER NOT NULL,
  delivered_at INTEGER,
  acked_at INTEGER,
  last_error TEXT,
  updated_at INTEGER NOT NULL, wake_reason TEXT,
  PRIMARY KEY (to_agent, message_seq)
) STRICT;

CREATE INDEX deliveries_claimed ON deliveries(claim_expires) WHERE claim_expires IS NOT NULL;

CREATE INDEX deliveries_message ON deliveries(message_seq);

CREATE INDEX deliveries_open ON deliveries(to_agent, state) WHERE state IN ('claimed', 'delivered', 'dead');

CREATE INDEX deliveries_queued ON deliveries(to_agent, priority_rank, message_seq) WHERE state = 'queued';

CREATE INDEX deliveries_reader ON deliveries(to_agent, message_seq);

CREATE INDEX deliveries_turn ON deliveries(turn_id) WHERE turn_id IS NOT NULL;

CREATE TABLE events (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  run_id TEXT,
  agent_name TEXT,
  agent_id TEXT,
  turn_id TEXT,
  line INTEGER,
  part INTEGER,
  source TEXT NOT NULL,
  level TEXT NOT NULL,
  type TEXT NOT NULL,
  data TEXT,
  created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX events_agent ON events(agent_name, seq);

CREATE UNIQUE INDEX events_once ON events(turn_id, line, part) WHERE line IS NOT NULL;

CREATE INDEX events_run ON events(run_id, seq);

CREATE INDEX events_run_facts ON events(run_id, type, seq) WHERE line IS NULL;

CREATE INDEX events_trouble ON events(level, seq) WHERE level IN ('warn', 'error');

CREATE INDEX events_turn ON events(turn_id, seq) WHERE turn_id IS NOT NULL;

CREATE TABLE gate_results (
  id TEXT PRIMARY KEY,
  tree TEXT NOT NULL,
  gate TEXT NOT NULL,
  command TEXT NOT NULL,
  gate_hash TEXT NOT NULL,
  status TEXT NOT NULL,
  exit_code INTEGER,
  duration_ms INTEGER NOT NULL,
  log_path TEXT NOT NULL,
  log_digest TEXT NOT NULL,
  flaky INTEGER NOT NULL,
  kept TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX gate_results_created ON gate_results(created_at);

CREATE INDEX gate_results_tree ON gate_results(tree, gate_hash, created_at);

CREATE TABLE group_members (
  group_id TEXT NOT NULL REFERENCES groups(id),
  task_id TEXT NOT NULL,
  position INTEGER NOT NULL,
  PRIMARY KEY (group_id, task_id)
) STRICT;

CREATE INDEX group_members_task ON group_members(task_id);

CREATE TABLE groups (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  status TEXT NOT NULL,
  run_id TEXT,
  owner TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  completed_at INTEGER
) STRICT;

CREATE INDEX groups_name ON groups(name);

CREATE TABLE handoffs (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  agent_name TEXT NOT NULL,
  from_generation INTEGER NOT NULL,
  to_generation INTEGER,
  reason TEXT NOT NULL,
  checkpoint TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE identities (
  agent_name TEXT PRIMARY KEY,
  capability TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  completed INTEGER NOT NULL,
  recent_tasks TEXT NOT NULL
) STRICT;

CREATE TABLE imports (
  source TEXT PRIMARY KEY NOT NULL,
  place INTEGER NOT NULL,
  taken INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE inbox_checks (
  agent_name TEXT PRIMARY KEY,
  checked_at INTEGER NOT NULL
) STRICT;

CREATE TABLE leases (
  name TEXT PRIMARY KEY,
  fence INTEGER NOT NULL,
  beat INTEGER NOT NULL,
  process_id TEXT
) STRICT;

CREATE TABLE merge_attempts (
  id TEXT PRIMARY KEY,
  train_id TEXT NOT NULL,
  queue_ids TEXT NOT NULL,
  base_commit TEXT NOT NULL,
  candidate_commit TEXT,
  outcome TEXT,
  gate_results TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  finished_at INTEGER,
  log_dir TEXT
, members TEXT NOT NULL DEFAULT '[]') STRICT;

CREATE INDEX merge_attempts_finished ON merge_attempts(finished_at, id) WHERE finished_at IS NOT NULL;

CREATE INDEX merge_attempts_open ON merge_attempts(started_at) WHERE outcome IS NULL;

CREATE TABLE merge_ops (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
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
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE INDEX merge_ops_intended ON merge_ops(seq) WHERE status = 'intended';

CREATE INDEX merge_ops_kind ON merge_ops(kind, status, seq);

CREATE TABLE merge_pauses (
  name TEXT PRIMARY KEY,
  paused_by TEXT NOT NULL,
  reason TEXT,
  since INTEGER NOT NULL
) STRICT;

CREATE TABLE merge_queue (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  branch TEXT NOT NULL,
  head_commit TEXT NOT NULL,
  target_branch TEXT NOT NULL,
  task_id TEXT,
  agent_name TEXT,
  run_id TEXT,
  files_modified TEXT NOT NULL,
  depends_on TEXT NOT NULL,
  priority INTEGER NOT NULL,
  source TEXT NOT NULL,
  enqueued_by TEXT NOT NULL,
  enqueued_at INTEGER NOT NULL,
  status TEXT NOT NULL,
  approval TEXT NOT NULL,
  tier TEXT,
  strategy TEXT,
  verdict TEXT,
  attempts INTEGER NOT NULL,
  not_before INTEGER NOT NULL,
  result_commit TEXT,
  cause TEXT,
  cause_detail TEXT,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE INDEX merge_queue_branch ON merge_queue(branch, id);

CREATE UNIQUE INDEX merge_queue_open ON merge_queue(branch, target_branch)
  WHERE status IN ('pending', 'merging', 'gating', 'blocked');

CREATE INDEX merge_queue_run ON merge_queue(run_id, id);

CREATE INDEX merge_queue_task ON merge_queue(task_id, id);

CREATE INDEX merge_queue_unmerged ON merge_queue(status, id) WHERE status <> 'merged';

CREATE TABLE messages (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  run_id TEXT,
  from_agent TEXT NOT NULL,
  from_agent_id TEXT,
  turn_id TEXT,
  address TEXT NOT NULL,
  subject TEXT NOT NULL,
  body TEXT NOT NULL,
  type TEXT NOT NULL,
  priority TEXT NOT NULL,
  thread_id TEXT NOT NULL,
  reply_to TEXT,
  hop INTEGER NOT NULL,
  payload TEXT,
  dedupe_key TEXT,
  expects_reply INTEGER NOT NULL,
  verified INTEGER NOT NULL,
  blob_path TEXT,
  created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX messages_blob ON messages(blob_path) WHERE blob_path IS NOT NULL;

CREATE UNIQUE INDEX messages_dedupe ON messages(from_agent, dedupe_key) WHERE dedupe_key IS NOT NULL;

CREATE INDEX messages_run ON messages(run_id, from_agent, seq);

CREATE INDEX messages_sender ON messages(from_agent, created_at);

CREATE INDEX messages_thread ON messages(thread_id, seq);

CREATE INDEX messages_turn ON messages(turn_id) WHERE turn_id IS NOT NULL;

CREATE TABLE notices (
  agent_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  message_seq INTEGER,
  PRIMARY KEY (agent_id, kind, key)
) STRICT;

CREATE TABLE notifications (
  item TEXT PRIMARY KEY,
  told_at INTEGER NOT NULL,
  settled_at INTEGER
) STRICT;

CREATE TABLE operator_marks (
  subject TEXT PRIMARY KEY,
  seen_at INTEGER,
  snoozed_until INTEGER,
  seen_as TEXT
) STRICT;

CREATE TABLE processes (
  id TEXT PRIMARY KEY,
  role TEXT NOT NULL,
  agent_id TEXT,
  turn_id TEXT,
  pid INTEGER NOT NULL,
  start_token TEXT NOT NULL,
  boot_id TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  ended_at INTEGER,
  end_reason TEXT
) STRICT;

CREATE INDEX processes_agent ON processes(agent_id) WHERE ended_at IS NULL;

CREATE INDEX processes_ended ON processes(ended_at, id) WHERE ended_at IS NOT NULL;

CREATE INDEX processes_live ON processes(pid) WHERE ended_at IS NULL;

CREATE INDEX processes_turn ON processes(turn_id) WHERE ended_at IS NULL;

CREATE TABLE project (
  one INTEGER PRIMARY KEY NOT NULL CHECK (one = 1),
  id TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE radar_pairs (
  a_commit TEXT NOT NULL,
  b_commit TEXT NOT NULL,
  outcome TEXT NOT NULL,
  files TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (a_commit, b_commit)
) STRICT;

CREATE INDEX radar_pairs_created ON radar_pairs(created_at, a_commit);

CREATE TABLE radar_warnings (
  branch_a TEXT NOT NULL,
  branch_b TEXT NOT NULL,
  files_digest TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (branch_a, branch_b, files_digest)
) STRICT;

CREATE INDEX radar_warnings_created ON radar_warnings(created_at, branch_a);

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
  created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX receipts_passing ON receipts(created_at, id) WHERE kind IN ('completion', 'check');

CREATE INDEX receipts_subject ON receipts(subject, created_at);

CREATE INDEX receipts_tree ON receipts(tree);

CREATE TABLE remembered_resolutions (
  fingerprint TEXT PRIMARY KEY,
  path TEXT NOT NULL,
  content TEXT NOT NULL,
  strategy TEXT NOT NULL,
  landed_at INTEGER NOT NULL,
  bad INTEGER NOT NULL
) STRICT;

CREATE TABLE removals (
  agent_name TEXT PRIMARY KEY NOT NULL,
  pid INTEGER NOT NULL,
  start_token TEXT NOT NULL,
  boot_id TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE requests (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  reply TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX requests_created ON requests(created_at);

CREATE TABLE retention_places (
  what TEXT PRIMARY KEY NOT NULL,
  at INTEGER NOT NULL,
  id TEXT NOT NULL
) STRICT;

CREATE TABLE run_changes (
  run_id TEXT NOT NULL,
  number INTEGER NOT NULL,
  criterion INTEGER,
  words TEXT NOT NULL,
  words_before TEXT,
  changed_by TEXT NOT NULL,
  changed_at INTEGER NOT NULL,
  PRIMARY KEY (run_id, number)
) STRICT;

CREATE TABLE run_left_open (
  run_id TEXT NOT NULL,
  number INTEGER NOT NULL,
  what TEXT NOT NULL,
  PRIMARY KEY (run_id, number)
) STRICT;

CREATE TABLE runs (
  id TEXT PRIMARY KEY,
  objective TEXT,
  target_branch TEXT,
  landing_branch TEXT,
  coordinator_name TEXT,
  status TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  completed_at INTEGER
, checklist INTEGER NOT NULL DEFAULT 0, start_commit TEXT) STRICT;

CREATE INDEX runs_active ON runs(started_at) WHERE status = 'active';

CREATE INDEX runs_started ON runs(started_at, id);

CREATE TABLE snapshots (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  agent_name TEXT NOT NULL,
  generation INTEGER NOT NULL,
  ref TEXT NOT NULL UNIQUE,
  commit_id TEXT NOT NULL,
  reason TEXT NOT NULL,
  skipped TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX snapshots_agent ON snapshots(agent_name, seq);

CREATE TABLE specs (
  task_id TEXT PRIMARY KEY,
  path TEXT NOT NULL,
  author TEXT,
  digest TEXT NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE INDEX specs_digest ON specs(digest);

CREATE TABLE spending (
  source TEXT NOT NULL,
  part INTEGER NOT NULL,
  model TEXT,
  agent_id TEXT,
  agent_name TEXT NOT NULL,
  capability TEXT NOT NULL,
  runtime TEXT NOT NULL,
  run_id TEXT,
  task_id TEXT,
  told INTEGER NOT NULL,
  input INTEGER NOT NULL,
  output INTEGER NOT NULL,
  cache_read INTEGER NOT NULL,
  cache_write INTEGER NOT NULL,
  cost_micros INTEGER,
  cost_source TEXT NOT NULL,
  price_version TEXT,
  started_at INTEGER NOT NULL,
  ended_at INTEGER NOT NULL,
  PRIMARY KEY (source, part)
) STRICT;

CREATE INDEX spending_agent ON spending(agent_name, ended_at);

CREATE INDEX spending_ended ON spending(ended_at, source);

CREATE INDEX spending_run ON spending(run_id, ended_at);

CREATE INDEX spending_task ON spending(task_id, ended_at);

CREATE TABLE spending_sums (
  dimension TEXT NOT NULL,
  key TEXT NOT NULL,
  turns INTEGER NOT NULL,
  untold INTEGER NOT NULL,
  unpriced INTEGER NOT NULL,
  input INTEGER NOT NULL,
  output INTEGER NOT NULL,
  cache_read INTEGER NOT NULL,
  cache_write INTEGER NOT NULL,
  cost_micros INTEGER NOT NULL,
  duration_ms INTEGER NOT NULL,
  first_at INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  PRIMARY KEY (dimension, key)
) STRICT;

CREATE INDEX spending_sums_last ON spending_sums(dimension, last_at, key);

CREATE INDEX spending_sums_old ON spending_sums(last_at, key);

CREATE TABLE task_criteria (
  task_id TEXT NOT NULL,
  run_id TEXT NOT NULL,
  number INTEGER NOT NULL,
  PRIMARY KEY (task_id, run_id, number)
) STRICT;

CREATE INDEX task_criteria_run ON task_criteria (run_id, number);

CREATE TABLE task_deps (
  task_id TEXT NOT NULL REFERENCES tasks(id),
  depends_on TEXT NOT NULL REFERENCES tasks(id),
  PRIMARY KEY (task_id, depends_on)
) STRICT;

CREATE INDEX task_deps_on ON task_deps(depends_on);

CREATE TABLE tasks (
  id TEXT PRIMARY KEY,
  title TEXT NOT NULL,
  status TEXT NOT NULL,
  type TEXT NOT NULL,
  priority INTEGER NOT NULL,
  description TEXT,
  assignee TEXT,
  labels TEXT NOT NULL,
  files TEXT NOT NULL,
  parent_id TEXT,
  run_id TEXT,
  claimed_by TEXT,
  claim_expires INTEGER,
  merge_state TEXT NOT NULL,
  close_reason TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  closed_at INTEGER
, shares TEXT NOT NULL DEFAULT '[]') STRICT;

CREATE INDEX tasks_status ON tasks(status, priority, created_at);

CREATE TABLE tokens (
  digest TEXT PRIMARY KEY,
  agent_id TEXT NOT NULL REFERENCES agents(id),
  turn_id TEXT,
  created_at INTEGER NOT NULL,
  revoked_at INTEGER
) STRICT;

CREATE INDEX tokens_revoked ON tokens(revoked_at, digest) WHERE revoked_at IS NOT NULL;

CREATE INDEX tokens_turn ON tokens(turn_id) WHERE revoked_at IS NULL;

CREATE TABLE transitions (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  agent_id TEXT NOT NULL REFERENCES agents(id),
  from_state TEXT NOT NULL,
  to_state TEXT NOT NULL,
  outcome TEXT,
  actor TEXT NOT NULL,
  reason TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX transitions_agent ON transitions(agent_id, seq);

CREATE TABLE turns (
  id TEXT PRIMARY KEY,
  agent_id TEXT NOT NULL REFERENCES agents(id),
  agent_name TEXT NOT NULL,
  run_id TEXT NOT NULL,
  trigger TEXT NOT NULL,
  status TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  not_before INTEGER NOT NULL,
  fence INTEGER NOT NULL,
  resume_requested TEXT,
  resume_observed TEXT,
  log_dir TEXT,
  output_offset INTEGER NOT NULL,
  output_lines INTEGER NOT NULL,
  clean INTEGER,
  result_text TEXT,
  exit_code INTEGER,
  exit_signal TEXT,
  terminal_message_seq INTEGER,
  error TEXT,
  queued_at INTEGER NOT NULL,
  started_at INTEGER,
  ended_at INTEGER
, failure TEXT, advice TEXT, prompt TEXT, cost_micros INTEGER, cost_source TEXT, price_version TEXT, reason TEXT) STRICT;

CREATE INDEX turns_agent ON turns(agent_id, queued_at);

CREATE INDEX turns_due ON turns(not_before) WHERE status = 'queued';

CREATE INDEX turns_ended ON turns(ended_at, id) WHERE ended_at IS NOT NULL;

CREATE UNIQUE INDEX turns_one_queued ON turns(agent_id) WHERE status = 'queued';

CREATE UNIQUE INDEX turns_one_running ON turns(agent_id) WHERE status = 'running';

CREATE TABLE usage (
  turn_id TEXT NOT NULL,
  message_id TEXT NOT NULL,
  agent_name TEXT NOT NULL,
  run_id TEXT NOT NULL,
  task_id TEXT,
  model TEXT,
  input INTEGER NOT NULL,
  output INTEGER NOT NULL,
  cache_read INTEGER NOT NULL,
  cache_write INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (turn_id, message_id)
) STRICT;

CREATE INDEX usage_created ON usage(created_at, turn_id);

CREATE TABLE waits (
  agent_name TEXT NOT NULL,
  kind TEXT NOT NULL,
  ref TEXT NOT NULL,
  since INTEGER NOT NULL,
  deadline INTEGER,
  PRIMARY KEY (agent_name, kind, ref)
) STRICT;

CREATE INDEX waits_object ON waits(kind, ref);

CREATE TABLE web_keys (
  digest TEXT PRIMARY KEY,
  id TEXT NOT NULL,
  kind TEXT NOT NULL,
  role TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
, used_at INTEGER) STRICT;

CREATE INDEX web_keys_expiry ON web_keys(expires_at, digest);

CREATE TABLE web_listeners (
  name TEXT PRIMARY KEY,
  host TEXT NOT NULL,
  port INTEGER NOT NULL,
  strict_port INTEGER NOT NULL,
  owner TEXT,
  bound_port INTEGER,
  problem TEXT,
  asked_at INTEGER NOT NULL
) STRICT;
