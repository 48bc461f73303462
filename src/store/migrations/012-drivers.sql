-- How an agent's program is talked to, and which version of it there was when the agent was spawned. Until now every
-- agent was driven in this one way.
ALTER TABLE agents ADD COLUMN driver TEXT NOT NULL DEFAULT 'stream-json';
ALTER TABLE agents ADD COLUMN cli_version TEXT;
