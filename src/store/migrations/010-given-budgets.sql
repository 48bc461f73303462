-- A limit of this subject alone. It counts instead of the configured one.
ALTER TABLE budgets ADD COLUMN given $INT;
