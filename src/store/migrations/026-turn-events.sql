-- The events of one turn, in their order: what was done in it is told without reading what its agent did at other times.
CREATE INDEX events_turn ON events(turn_id, seq) WHERE turn_id IS NOT NULL;
