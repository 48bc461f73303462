-- Why a message starts a turn of its recipient, for `ov mail why`. Older deliveries have no reason on record.
ALTER TABLE deliveries ADD COLUMN wake_reason TEXT;
