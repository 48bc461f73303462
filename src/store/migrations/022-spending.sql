-- What a turn, or a session of a person, used and cost: a row for each model that answered in it.
CREATE TABLE spending (
  source TEXT NOT NULL,
  part $INT NOT NULL,
  model TEXT,
  agent_id TEXT,
  agent_name TEXT NOT NULL,
  capability TEXT NOT NULL,
  runtime TEXT NOT NULL,
  run_id TEXT,
  task_id TEXT,
  told $INT NOT NULL,
  input $INT NOT NULL,
  output $INT NOT NULL,
  cache_read $INT NOT NULL,
  cache_write $INT NOT NULL,
  cost_micros $INT,
  cost_source TEXT NOT NULL,
  price_version TEXT,
  started_at $INT NOT NULL,
  ended_at $INT NOT NULL,
  PRIMARY KEY (source, part)
) $STRICT;
CREATE INDEX spending_ended ON spending(ended_at, source);
CREATE INDEX spending_agent ON spending(agent_name, ended_at);
CREATE INDEX spending_run ON spending(run_id, ended_at);
CREATE INDEX spending_task ON spending(task_id, ended_at);
-- Their sums by agent, task, run and so on, so that a list of the newest costs the same however much there is.
CREATE TABLE spending_sums (
  dimension TEXT NOT NULL,
  key TEXT NOT NULL,
  turns $INT NOT NULL,
  untold $INT NOT NULL,
  unpriced $INT NOT NULL,
  input $INT NOT NULL,
  output $INT NOT NULL,
  cache_read $INT NOT NULL,
  cache_write $INT NOT NULL,
  cost_micros $INT NOT NULL,
  duration_ms $INT NOT NULL,
  first_at $INT NOT NULL,
  last_at $INT NOT NULL,
  PRIMARY KEY (dimension, key)
) $STRICT;
CREATE INDEX spending_sums_last ON spending_sums(dimension, last_at, key);
CREATE INDEX spending_sums_old ON spending_sums(last_at, key)
