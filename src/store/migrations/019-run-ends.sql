-- What was open when a run was ended by force, a sentence each. Of earlier endings only the events tell that.
CREATE TABLE run_left_open (
  run_id TEXT NOT NULL,
  number $INT NOT NULL,
  what TEXT NOT NULL,
  PRIMARY KEY (run_id, number)
) $STRICT;
