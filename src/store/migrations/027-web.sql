-- The wish that the engine listens for browsers, and how far it has come. One row at most.
CREATE TABLE web_listeners (
  name TEXT PRIMARY KEY,
  host TEXT NOT NULL,
  port $INT NOT NULL,
  strict_port $INT NOT NULL,
  owner TEXT,
  bound_port $INT,
  problem TEXT,
  asked_at $INT NOT NULL
) $STRICT;

-- What lets a person in: codes that count once, the sessions they were exchanged for, tokens for programs. Digests only.
CREATE TABLE web_keys (
  digest TEXT PRIMARY KEY,
  id TEXT NOT NULL,
  kind TEXT NOT NULL,
  role TEXT NOT NULL,
  created_at $INT NOT NULL,
  expires_at $INT NOT NULL
) $STRICT;

CREATE INDEX web_keys_expiry ON web_keys(expires_at, digest);

-- What the operator has seen or put off. Nothing of it touches what agents see.
CREATE TABLE operator_marks (
  subject TEXT PRIMARY KEY,
  seen_at $INT,
  snoozed_until $INT,
  seen_as TEXT
) $STRICT;
