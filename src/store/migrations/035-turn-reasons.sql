-- Why a turn starts that no mail starts. Null for turns that mail starts, and for those of earlier versions.
ALTER TABLE turns ADD COLUMN reason TEXT;
