-- The description of an agent's runtime, where a file of its project had it. It stays as it was when the agent was spawned.
ALTER TABLE agents ADD COLUMN runtime_spec TEXT;
