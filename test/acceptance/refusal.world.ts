import { expect } from "bun:test";
import { join } from "node:path";
import { brokenLinesIn } from "../../testkit/command-lines.ts";
import { jsonOf, type OvAnswer } from "../../testkit/ov.ts";
import { openRaw } from "../../testkit/raw-database.ts";
import { snapshotOf } from "../../testkit/snapshot.ts";
import { statePath } from "../../testkit/state.ts";

export interface Expected {
  readonly exit: number;
  readonly code: string;
  /** Part of the message. */
  readonly says: string;
}

/** How a test runs the program. */
export type Run = (...args: string[]) => Promise<OvAnswer>;

/** A refusal in both forms says the same, in the documented shape, and names only commands that exist. */
export async function expectRefusal(run: Run, args: readonly string[], expected: Expected): Promise<void> {
  const [machine, human] = await Promise.all([run(...args, "--json"), run(...args)]);
  const seen = `ov ${args.join(" ")}`;
  const envelope = jsonOf(machine);
  expect({ seen, ...envelope }).toMatchObject({ seen, success: false, code: expected.code, exitCode: expected.exit });
  expect(Object.keys(envelope).filter((key) => !envelopeKeys.includes(key))).toEqual([]);
  expect({ seen, exits: [machine.code, human.code] }).toEqual({ seen, exits: [expected.exit, expected.exit] });
  expect(String(envelope.error)).toContain(expected.says);
  expect({ seen, retryable: envelope.retryable }).toEqual({ seen, retryable: expected.exit === busy });
  expect(machine.err).toBe("");

  expect({ seen, out: human.out }).toEqual({ seen, out: "" });
  const [first, ...rest] = human.err.trimEnd().split("\n");
  expect(first).toStartWith(`Error [${expected.code}]: `);
  const hint = rest.at(-1)?.trim() ?? "";
  expect({ seen, hint, broken: misleading(hint) }).toEqual({ seen, hint: expect.stringMatching(/./), broken: [] });
  expect(misleading(String(envelope.hint))).toEqual([]);
}

const busy = 6;
const envelopeKeys = ["success", "command", "error", "code", "hint", "details", "exitCode", "retryable"];

/** A hint may leave out what only the reader knows, but never name what does not exist. */
const misleading = (hint: string): string[] =>
  brokenLinesIn(hint)
    .filter(({ problem }) => problem !== "missing-flag" && problem !== "missing-argument")
    .map(({ line }) => line);

/**
 * Everything a refused command must leave as it was: all files but the compiled settings, which any command may write
 * anew, and in the place of the database's bytes its rows, since reading it may tidy its files.
 */
export function stateOf(root: string): unknown {
  return { files: filesOf(root, [...tidied, "overstory.db"]), rows: rowsOf(statePath(root, "overstory.db")) };
}

/** The same where the database cannot be read: its bytes count. */
export const bytesOf = (root: string): unknown => filesOf(root, tidied);

/** Of the directories only the entry itself: whatever is left in them counts. */
const tidied = ["", "run", "run/env", "run/config.json", "overstory.db-wal", "overstory.db-shm"];

const filesOf = (root: string, ignored: readonly string[]): unknown =>
  Object.entries(snapshotOf(root)).filter(([path]) => !ignored.some((name) => path === join(".git/ov-state", name)));

function rowsOf(path: string): unknown {
  const db = openRaw(path, "read");
  try {
    const tables = db.query<{ name: string }, []>("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name");
    return tables.all().map(({ name }) => [name, db.query(`SELECT * FROM "${name}" ORDER BY rowid`).all()]);
  } finally {
    db.close();
  }
}
