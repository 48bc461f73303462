import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { lstatSync, readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { pathColumns } from "../src/store/database-files.ts";
import { slingNew, untilAgent } from "../testkit/lifecycle.ts";
import { makeProject } from "../testkit/project.ts";
import { statePath } from "../testkit/state.ts";

const works = `
- do:
    - edit: { file: work.txt, write: "done\\n" }
    - commit: the work
    - ov: [mail, send, --to, operator, --type, worker_done, --subject, "Done: B1", --body, it is there]
`;

/** Texts for people and records of replies may name the old place. No file is ever opened by them. */
const told = new Set(["messages.body", "messages.payload", "events.data", "requests.reply", "audit.detail"]);

/** The program that agents run, and temporary files of git in a directory of ours. */
const made = /^run\/(bin|bin\/ov|git\/.*)$/;

/** Every column with a value that names the directory. */
function naming(path: string, dir: string): string[] {
  const db = new Database(path, { readonly: true });
  const tables = db.query<{ name: string }, []>("SELECT name FROM sqlite_master WHERE type = 'table'").all();
  const found = tables.flatMap(({ name: table }) => {
    const columns = db.query<{ name: string }, []>(`SELECT name FROM pragma_table_info('${table}')`).all();
    return columns
      .filter(({ name }) => {
        const where = `instr(CAST("${name}" AS TEXT), ?) > 0`;
        return db.query(`SELECT 1 FROM "${table}" WHERE ${where} LIMIT 1`).get(`${dir}/`) !== null;
      })
      .map(({ name }) => `${table}.${name}`);
  });
  db.close();
  return found;
}

test("every stored path of a project follows it when it is moved, and its files are its owner's alone", async () => {
  await using project = await makeProject({ scenario: works, gates: ["true"] });
  await project.json("task", "create", "Task B1", "--id", "B1");
  await project.json("spec", "write", "B1", "--body", "text");
  await slingNew(project, "B2");
  await project.json("sling", "B1", "--name", "b1");
  await untilAgent(project, "b1", "completed/done");
  await untilAgent(project, "b2", "completed/done");
  await project.json("merge", "--branch", "overstory/b1/B1");
  await project.json("mail", "send", "--to", "operator", "--subject", "long", "--body", "line\n".repeat(20_000));
  await project.settled();
  const here = naming(statePath(project.root, "overstory.db"), project.root);
  const known = pathColumns.map(([table, column]) => `${table}.${column}`);
  expect(here.filter((column) => !told.has(column) && !known.includes(column))).toEqual([]);
  expect(here).toEqual(expect.arrayContaining(["agents.worktree_path", "turns.log_dir", "gate_results.log_path"]));

  const state = statePath(project.root);
  const open = readdirSync(state, { recursive: true, encoding: "utf8" }).filter(
    (name) => !made.test(name) && ((lstatSync(join(state, name), { throwIfNoEntry: false })?.mode ?? 0) & 0o077) !== 0,
  );
  expect(open).toEqual([]);

  const there = join(project.root, "..", "there");
  renameSync(project.root, there);
  expect((await project.ovWith({ cwd: there }, "status")).code).toBe(0);
  expect(naming(statePath(there, "overstory.db"), project.root).filter((column) => !told.has(column))).toEqual([]);
  await project.ovWith({ cwd: there }, "engine", "stop");
});
