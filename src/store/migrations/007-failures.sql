-- What sort of failure ended a turn and what can be done about it, and which text of its role the turn was told.
ALTER TABLE turns ADD COLUMN failure TEXT;
ALTER TABLE turns ADD COLUMN advice TEXT;
ALTER TABLE turns ADD COLUMN prompt TEXT;
