-- Which project this database belongs to. One row.
CREATE TABLE project (
  one $INT PRIMARY KEY NOT NULL CHECK (one = 1),
  id TEXT NOT NULL,
  created_at $INT NOT NULL
) $STRICT;
