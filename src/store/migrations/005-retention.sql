-- What is looked for when old things are let go of: without reading what stays.
CREATE INDEX checks_answered ON checks(updated_at, id) WHERE status IN ('done', 'failed');
CREATE INDEX receipts_tree ON receipts(tree);
CREATE INDEX receipts_passing ON receipts(created_at, id) WHERE kind IN ('completion', 'check');
CREATE INDEX requests_created ON requests(created_at);
CREATE INDEX specs_digest ON specs(digest);
