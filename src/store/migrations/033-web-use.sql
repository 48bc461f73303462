-- When each session and token was last shown.
ALTER TABLE web_keys ADD COLUMN used_at $INT;
