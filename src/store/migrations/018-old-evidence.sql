-- Where a run began, so that evidence from before it is told from its work; whether the evidence of a criterion is as it was
-- then; and why evidence that was found before does not count any more.
ALTER TABLE runs ADD COLUMN start_commit TEXT;
ALTER TABLE criteria ADD COLUMN proof_unchanged $INT NOT NULL DEFAULT 0;
ALTER TABLE criteria ADD COLUMN proof_lost TEXT;
