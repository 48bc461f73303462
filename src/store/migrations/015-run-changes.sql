-- What was changed in the objective and in the checklist of a run, with the words before. Without a criterion: the objective.
CREATE TABLE run_changes (
  run_id TEXT NOT NULL,
  number $INT NOT NULL,
  criterion $INT,
  words TEXT NOT NULL,
  words_before TEXT,
  changed_by TEXT NOT NULL,
  changed_at $INT NOT NULL,
  PRIMARY KEY (run_id, number)
) $STRICT;
