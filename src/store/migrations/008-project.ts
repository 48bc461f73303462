/** Which project this database belongs to. One row. */
export const project = `
CREATE TABLE project (
  one $INT PRIMARY KEY NOT NULL CHECK (one = 1),
  id TEXT NOT NULL,
  created_at $INT NOT NULL
) $STRICT;
`;
