import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { TestProject } from "../../testkit/project.ts";
import { personWith } from "../../testkit/typing.ts";

const repository = resolve(import.meta.dir, "../..");
const readme = readFileSync(join(repository, "README.md"), "utf8");
const blocks = [...readme.matchAll(/^```\w*\n(.*?)^```/gms)].map(([, block = ""]) => block);
const [team = "", oneAgent = "", ...otherBlocks] = blocks;
const linesOf = (block: string): string[] => block.split("\n").filter((line) => line !== "");

const build = `
    - edit: { file: greeting.txt, write: "hello\\n" }
    - commit: Add a greeting
    - ov: [done, --summary, greeting.txt says hello]
`;

const scenario = `
- when: { capability: coordinator, turn: 1 }
  do:
    - ov: [run, criteria, add, There is a greeting]
    - ov: [task, create, Add a greeting, --id, T1, --criteria, 1]
    - ov: [sling, T1, --name, b1]
- when: { capability: coordinator, input: worker_done }
  do:
    - ov: [mail, send, --to, operator, --type, merge_ready, --subject, ready, --body, looked at, --payload, '{"branch":"overstory/b1/T1"}']
- when: { capability: coordinator }
  do:
    - shell: ov run criteria prove 1 --file greeting.txt && ov run complete || true
- when: { capability: builder }
  do:${build}
`;

interface Reader {
  readonly project: TestProject;
  /** Types a line of the README as it stands, without the prompt. */
  type(line: string): Promise<string>;
}

async function reader(): Promise<Reader & AsyncDisposable> {
  const person = await personWith({ scenario, files: { "package.json": '{"scripts":{"test":"true"}}\n' } });
  return {
    project: person.project,
    type: async (line) => {
      expect(line).toStartWith("$ ");
      const { code, shown } = await person.type(line.slice(2));
      expect({ line, code, shown }).toMatchObject({ line, code: 0 });
      return shown;
    },
    [Symbol.asyncDispose]: () => person[Symbol.asyncDispose](),
  };
}

test("the README's first commands, typed as they stand in a fresh repository, end with proven work on the user's branch", async () => {
  await using reading = await reader();
  const { project, type } = reading;
  const lines = linesOf(team);
  const last = lines.at(-1) ?? "";
  expect(last).toBe("$ ov merge promote");
  for (const line of lines.slice(0, -1)) await type(line);
  await project.until("the run was complete", async () => {
    const [run] = await project.read((tx) => tx.runs.list(1));
    return run?.status === "completed";
  });
  await type(last);
  expect(await project.git("show", "main:greeting.txt")).toBe("hello\n");
  expect(readFileSync(join(project.root, "greeting.txt"), "utf8")).toBe("hello\n");
}, 120_000);

test("the commands for one agent end with its commit on its branch and its report in the inbox", async () => {
  await using reading = await reader();
  const { project, type } = reading;
  await type("$ ov init");
  for (const line of linesOf(oneAgent)) await type(line);
  await project.until("the agent reported", async () => (await project.agent("b1")).state === "completed");
  await project.settled();
  expect((await project.git("log", "--format=%s", "main..overstory/b1/T1")).trim()).toBe("Add a greeting");
  expect(await type("$ ov mail check")).toContain("greeting.txt says hello");
  await type("$ ov merge --branch overstory/b1/T1");
}, 120_000);

test("every script that the README's other commands name exists", async () => {
  const { scripts } = JSON.parse(readFileSync(join(repository, "package.json"), "utf8")) as { scripts: object };
  const named = otherBlocks.flatMap((block) => [...block.matchAll(/\bnpm (?:run ([\w:-]+)|(test|start)\b)/g)]);
  const names = named.map(([, run, short]) => run ?? short ?? "");
  expect(names).toContain("demo");
  expect(names.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
});
