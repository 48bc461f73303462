-- Finds old rows by their age without reading young ones, and remembers how far each kind was looked through.
CREATE TABLE retention_places (
  what TEXT PRIMARY KEY NOT NULL,
  at $INT NOT NULL,
  id TEXT NOT NULL
) $STRICT;

CREATE INDEX turns_ended ON turns(ended_at, id) WHERE ended_at IS NOT NULL;
CREATE INDEX processes_ended ON processes(ended_at, id) WHERE ended_at IS NOT NULL;
CREATE INDEX tokens_revoked ON tokens(revoked_at, digest) WHERE revoked_at IS NOT NULL;
CREATE INDEX usage_created ON usage(created_at, turn_id);
CREATE INDEX budgets_days ON budgets(updated_at, subject) WHERE scope = 'day';
CREATE INDEX messages_blob ON messages(blob_path) WHERE blob_path IS NOT NULL;
CREATE INDEX merge_attempts_finished ON merge_attempts(finished_at, id) WHERE finished_at IS NOT NULL;
CREATE INDEX radar_pairs_created ON radar_pairs(created_at, a_commit);
CREATE INDEX radar_warnings_created ON radar_warnings(created_at, branch_a);
