-- Lists of events read only the rows that they show, however many others there are: those of a run, those of a run that
-- no agent's output holds, and those that tell of trouble.
CREATE INDEX events_run ON events(run_id, seq);
CREATE INDEX events_run_facts ON events(run_id, type, seq) WHERE line IS NULL;
CREATE INDEX events_trouble ON events(level, seq) WHERE level IN ('warn', 'error');
