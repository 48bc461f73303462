-- The first schema. `$INT`, `$SEQ` and `$STRICT` are replaced per dialect. Literal lists (states, types) are checked by
-- the program from its own `as const` lists, so that adding one needs no migration.
CREATE TABLE runs (
  id TEXT PRIMARY KEY,
  objective TEXT,
  target_branch TEXT,
  landing_branch TEXT,
  coordinator_name TEXT,
  status TEXT NOT NULL,
  started_at $INT NOT NULL,
  completed_at $INT
) $STRICT;
CREATE INDEX runs_active ON runs(started_at) WHERE status = 'active';

CREATE TABLE agents (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  generation $INT NOT NULL,
  capability TEXT NOT NULL,
  runtime TEXT NOT NULL,
  model TEXT,
  topology TEXT NOT NULL,
  parent_name TEXT NOT NULL,
  depth $INT NOT NULL,
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
  state_version $INT NOT NULL,
  outcome TEXT,
  stop_requested_by TEXT,
  provider_session_id TEXT,
  reminders $INT NOT NULL,
  started_at $INT NOT NULL,
  last_activity_at $INT NOT NULL,
  ended_at $INT,
  released_at $INT,
  UNIQUE (name, generation)
) $STRICT;
CREATE UNIQUE INDEX agents_one_live_per_name ON agents(name) WHERE state NOT IN ('completed', 'zombie');
CREATE INDEX agents_live ON agents(run_id) WHERE state NOT IN ('completed', 'zombie');
CREATE INDEX agents_unseated ON agents(started_at) WHERE worktree_path IS NULL AND state = 'booting';
CREATE INDEX agents_parent ON agents(parent_name);
CREATE INDEX agents_task ON agents(task_id);

CREATE TABLE transitions (
  seq $SEQ,
  agent_id TEXT NOT NULL REFERENCES agents(id),
  from_state TEXT NOT NULL,
  to_state TEXT NOT NULL,
  outcome TEXT,
  actor TEXT NOT NULL,
  reason TEXT NOT NULL,
  created_at $INT NOT NULL
) $STRICT;
CREATE INDEX transitions_agent ON transitions(agent_id, seq);

CREATE TABLE turns (
  id TEXT PRIMARY KEY,
  agent_id TEXT NOT NULL REFERENCES agents(id),
  agent_name TEXT NOT NULL,
  run_id TEXT NOT NULL,
  trigger TEXT NOT NULL,
  status TEXT NOT NULL,
  attempt $INT NOT NULL,
  not_before $INT NOT NULL,
  fence $INT NOT NULL,
  resume_requested TEXT,
  resume_observed TEXT,
  log_dir TEXT,
  output_offset $INT NOT NULL,
  output_lines $INT NOT NULL,
  clean $INT,
  result_text TEXT,
  exit_code $INT,
  exit_signal TEXT,
  terminal_message_seq $INT,
  error TEXT,
  queued_at $INT NOT NULL,
  started_at $INT,
  ended_at $INT
) $STRICT;
CREATE UNIQUE INDEX turns_one_running ON turns(agent_id) WHERE status = 'running';
CREATE UNIQUE INDEX turns_one_queued ON turns(agent_id) WHERE status = 'queued';
CREATE INDEX turns_due ON turns(not_before) WHERE status = 'queued';
CREATE INDEX turns_agent ON turns(agent_id, queued_at);

CREATE TABLE processes (
  id TEXT PRIMARY KEY,
  role TEXT NOT NULL,
  agent_id TEXT,
  turn_id TEXT,
  pid $INT NOT NULL,
  start_token TEXT NOT NULL,
  boot_id TEXT NOT NULL,
  started_at $INT NOT NULL,
  ended_at $INT,
  end_reason TEXT
) $STRICT;
CREATE INDEX processes_live ON processes(pid) WHERE ended_at IS NULL;
CREATE INDEX processes_turn ON processes(turn_id) WHERE ended_at IS NULL;
CREATE INDEX processes_agent ON processes(agent_id) WHERE ended_at IS NULL;

CREATE TABLE leases (
  name TEXT PRIMARY KEY,
  fence $INT NOT NULL,
  beat $INT NOT NULL,
  process_id TEXT
) $STRICT;

CREATE TABLE messages (
  seq $SEQ,
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
  hop $INT NOT NULL,
  payload TEXT,
  dedupe_key TEXT,
  expects_reply $INT NOT NULL,
  verified $INT NOT NULL,
  blob_path TEXT,
  created_at $INT NOT NULL
) $STRICT;
CREATE INDEX messages_thread ON messages(thread_id, seq);
CREATE INDEX messages_sender ON messages(from_agent, created_at);
CREATE INDEX messages_turn ON messages(turn_id) WHERE turn_id IS NOT NULL;
CREATE UNIQUE INDEX messages_dedupe ON messages(from_agent, dedupe_key) WHERE dedupe_key IS NOT NULL;

CREATE TABLE deliveries (
  message_seq $INT NOT NULL REFERENCES messages(seq) ON DELETE CASCADE,
  to_agent TEXT NOT NULL,
  state TEXT NOT NULL,
  priority_rank $INT NOT NULL,
  wake $INT NOT NULL,
  attempts $INT NOT NULL,
  not_before $INT NOT NULL,
  claimed_by TEXT,
  claim_expires $INT,
  turn_id TEXT,
  channel TEXT,
  redelivered $INT NOT NULL,
  delivered_at $INT,
  acked_at $INT,
  last_error TEXT,
  updated_at $INT NOT NULL,
  PRIMARY KEY (to_agent, message_seq)
) $STRICT;
CREATE INDEX deliveries_queued ON deliveries(to_agent, priority_rank, message_seq) WHERE state = 'queued';
CREATE INDEX deliveries_open ON deliveries(to_agent, state) WHERE state IN ('claimed', 'delivered', 'dead');
CREATE INDEX deliveries_claimed ON deliveries(claim_expires) WHERE claim_expires IS NOT NULL;
CREATE INDEX deliveries_turn ON deliveries(turn_id) WHERE turn_id IS NOT NULL;
CREATE INDEX deliveries_message ON deliveries(message_seq);

CREATE TABLE inbox_checks (
  agent_name TEXT PRIMARY KEY,
  checked_at $INT NOT NULL
) $STRICT;

CREATE TABLE waits (
  agent_name TEXT NOT NULL,
  kind TEXT NOT NULL,
  ref TEXT NOT NULL,
  since $INT NOT NULL,
  deadline $INT,
  PRIMARY KEY (agent_name, kind, ref)
) $STRICT;
CREATE INDEX waits_object ON waits(kind, ref);

CREATE TABLE events (
  seq $SEQ,
  run_id TEXT,
  agent_name TEXT,
  agent_id TEXT,
  turn_id TEXT,
  line $INT,
  part $INT,
  source TEXT NOT NULL,
  level TEXT NOT NULL,
  type TEXT NOT NULL,
  data TEXT,
  created_at $INT NOT NULL
) $STRICT;
CREATE UNIQUE INDEX events_once ON events(turn_id, line, part) WHERE line IS NOT NULL;
CREATE INDEX events_agent ON events(agent_name, seq);

CREATE TABLE notices (
  agent_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  message_seq $INT,
  PRIMARY KEY (agent_id, kind, key)
) $STRICT;

CREATE TABLE audit (
  seq $SEQ,
  caller TEXT NOT NULL,
  action TEXT NOT NULL,
  refused $INT NOT NULL,
  detail TEXT NOT NULL,
  created_at $INT NOT NULL
) $STRICT;

CREATE TABLE tasks (
  id TEXT PRIMARY KEY,
  title TEXT NOT NULL,
  status TEXT NOT NULL,
  type TEXT NOT NULL,
  priority $INT NOT NULL,
  description TEXT,
  assignee TEXT,
  labels TEXT NOT NULL,
  files TEXT NOT NULL,
  parent_id TEXT,
  run_id TEXT,
  claimed_by TEXT,
  claim_expires $INT,
  merge_state TEXT NOT NULL,
  close_reason TEXT,
  created_at $INT NOT NULL,
  updated_at $INT NOT NULL,
  closed_at $INT
) $STRICT;
CREATE INDEX tasks_status ON tasks(status, priority, created_at);

CREATE TABLE task_deps (
  task_id TEXT NOT NULL REFERENCES tasks(id),
  depends_on TEXT NOT NULL REFERENCES tasks(id),
  PRIMARY KEY (task_id, depends_on)
) $STRICT;
CREATE INDEX task_deps_on ON task_deps(depends_on);

CREATE TABLE groups (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  status TEXT NOT NULL,
  run_id TEXT,
  owner TEXT NOT NULL,
  created_at $INT NOT NULL,
  completed_at $INT
) $STRICT;
CREATE INDEX groups_name ON groups(name);

CREATE TABLE group_members (
  group_id TEXT NOT NULL REFERENCES groups(id),
  task_id TEXT NOT NULL,
  position $INT NOT NULL,
  PRIMARY KEY (group_id, task_id)
) $STRICT;
CREATE INDEX group_members_task ON group_members(task_id);

CREATE TABLE specs (
  task_id TEXT PRIMARY KEY,
  path TEXT NOT NULL,
  author TEXT,
  digest TEXT NOT NULL,
  updated_at $INT NOT NULL
) $STRICT;

CREATE TABLE tokens (
  digest TEXT PRIMARY KEY,
  agent_id TEXT NOT NULL REFERENCES agents(id),
  turn_id TEXT,
  created_at $INT NOT NULL,
  revoked_at $INT
) $STRICT;
CREATE INDEX tokens_turn ON tokens(turn_id) WHERE revoked_at IS NULL;

CREATE TABLE requests (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  reply TEXT NOT NULL,
  created_at $INT NOT NULL
) $STRICT;
