-- What is asked at every end of a turn is found by its run, however many runs there were before.
CREATE INDEX agents_run ON agents(run_id);
CREATE INDEX messages_run ON messages(run_id, from_agent, seq);
