-- The operator's pause of the merge queue. One row at most.
CREATE TABLE merge_pauses (
  name TEXT PRIMARY KEY,
  paused_by TEXT NOT NULL,
  reason TEXT,
  since $INT NOT NULL
) $STRICT;
