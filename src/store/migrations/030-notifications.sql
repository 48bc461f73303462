-- What the operator was notified of, each thing once. `settled_at` is null while it is being told: a process that dies
-- then leaves it so, and the thing is not told again.
CREATE TABLE notifications (
  item TEXT PRIMARY KEY,
  told_at $INT NOT NULL,
  settled_at $INT
) $STRICT;
