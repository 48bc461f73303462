-- What a turn cost in millionths of a dollar, who says so, and by which list of prices. Of earlier turns nothing is known.
ALTER TABLE turns ADD COLUMN cost_micros $INT;
ALTER TABLE turns ADD COLUMN cost_source TEXT;
ALTER TABLE turns ADD COLUMN price_version TEXT;
-- Turns with tokens whose cost nobody knows. Only ledgers of dollars count them.
ALTER TABLE budgets ADD COLUMN unpriced $INT NOT NULL DEFAULT 0;
