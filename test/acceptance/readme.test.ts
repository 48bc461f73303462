import { expect, test } from "bun:test";
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { ovBinary } from "../../testkit/ov.ts";
import { makeProject } from "../../testkit/project.ts";

const repository = resolve(import.meta.dir, "../..");
const readme = readFileSync(join(repository, "README.md"), "utf8");
const [quickStart = "", ...otherBlocks] = [...readme.matchAll(/^```\w*\n(.*?)^```/gms)].map(([, block = ""]) => block);

const scenario = `
- when: { capability: builder }
  do:
    - edit: { file: greeting.txt, write: "hello\\n" }
    - commit: Add a greeting
    - ov: [mail, send, --to, operator, --type, worker_done, --subject, "Done: \${task}", --body, greeting.txt says hello]
`;

test("the README's first commands, typed as they stand in a fresh repository, end with the agent's commit on its branch", async () => {
  await using project = await makeProject({
    bare: true,
    scenario,
    env: { OVERSTORY__RUNTIME__DEFAULT: "scripted", OVERSTORY__ENGINE__IDLEEXITMS: "300" },
  });
  const bin = join(project.home, "bin");
  mkdirSync(bin);
  symlinkSync(ovBinary(), join(bin, "ov"));
  const type = async (line: string): Promise<string> => {
    const env = { ...project.env, PATH: `${bin}:${project.env.PATH}` };
    const child = Bun.spawn({ cmd: ["sh", "-c", line], cwd: project.root, env, stdio: ["ignore", "pipe", "pipe"] });
    const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    expect({ line, code: await child.exited, err }).toMatchObject({ line, code: 0 });
    return out;
  };
  const lines = quickStart.split("\n").filter((line) => line !== "");
  expect(lines.length).toBeGreaterThan(2);
  for (const line of lines) {
    expect(line).toStartWith("$ ");
    await type(line.slice(2));
  }
  await project.until("the agent reported", async () => (await project.agent("b1")).state === "completed");
  await project.settled();
  expect((await project.git("log", "--format=%s", "main..overstory/b1/T1")).trim()).toBe("Add a greeting");
  expect(await project.git("show", "overstory/b1/T1:greeting.txt")).toBe("hello\n");
  expect(await type("ov mail check")).toContain("greeting.txt says hello");
}, 30_000);

test("every script that the README's other commands name exists", async () => {
  const { scripts } = JSON.parse(readFileSync(join(repository, "package.json"), "utf8")) as { scripts: object };
  const named = otherBlocks.flatMap((block) => [...block.matchAll(/\bnpm (?:run ([\w:-]+)|(test|start)\b)/g)]);
  const names = named.map(([, run, short]) => run ?? short ?? "");
  expect(names).toContain("demo");
  expect(names.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
});
