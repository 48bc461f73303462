-- What became of each entry of an attempt, and the checked trees it was part of. Older attempts do not say.
ALTER TABLE merge_attempts ADD COLUMN members TEXT NOT NULL DEFAULT '[]';
