-- How far each file of an earlier version was taken over, so that a repeated import goes on from there.
CREATE TABLE imports (
  source TEXT PRIMARY KEY NOT NULL,
  place $INT NOT NULL,
  taken $INT NOT NULL,
  updated_at $INT NOT NULL
) $STRICT;
