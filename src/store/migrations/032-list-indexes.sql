-- Lists of open merges, of operations by kind, of the mail of one reader and of runs by time, among a million rows.
CREATE INDEX merge_queue_unmerged ON merge_queue(status, id) WHERE status <> 'merged';
CREATE INDEX merge_ops_kind ON merge_ops(kind, status, seq);
CREATE INDEX deliveries_reader ON deliveries(to_agent, message_seq);
CREATE INDEX runs_started ON runs(started_at, id);
