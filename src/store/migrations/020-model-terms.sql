-- What an agent's program needs to reach its model: a gateway, and what it goes on with while the model is overloaded.
ALTER TABLE agents ADD COLUMN model_terms TEXT;
