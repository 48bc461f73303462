import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Leaf, leaves, type Samples, shortestLine } from "../../testkit/leaves.ts";
import { jsonOf } from "../../testkit/ov.ts";
import { inParallel } from "../../testkit/parallel.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";

/** Commands that do not end by themselves, or that change this machine. */
const unsafe: readonly string[] = ["engine install", "serve", "watch"];

/** Takes twenty seconds; its own test reads its document. */
const elsewhere: readonly string[] = ["demo"];

/** What a command needs beyond its required words to do something; it may also be refused, in one document. */
const more: Readonly<Record<string, readonly string[]>> = {
  "coordinator ask": ["--timeout", "1"],
  "orchestrator ask": ["--timeout", "1"],
  "mail purge": ["--agent", "nobody"],
  "task create": ["A third"],
  "task update": ["--title", "Another title"],
};

/** The places where `--json` may stand in a line. */
const places = {
  "before the words": (words: readonly string[]) => ["--json", ...words],
  "between the words": ([first = "", ...rest]: readonly string[]) => [first, "--json", ...rest],
  "after the words": (words: readonly string[]) => [...words, "--json"],
} as const;

async function furnishedProject(): Promise<TestProject & { readonly samples: Samples }> {
  const project = await makeProject();
  await project.json("task", "create", "A task", "--id", "T1");
  await project.json("task", "create", "Another", "--id", "T2");
  await project.json("group", "create", "both", "T1", "T2");
  const sent = await project.json("mail", "send", "--to", "operator", "--subject", "s", "--body", "b");
  writeFileSync(join(project.root, "note.txt"), "text\n");
  const samples = {
    tasks: "T1",
    groups: "both",
    messages: String(sent.id),
    agents: "operator",
    runs: "run-1",
    configKeys: "mail.leaseMs",
    files: "note.txt",
  };
  return { ...project, samples };
}

const nameOf = ({ path }: Leaf): string => path.join(" ");

for (const [place, put] of Object.entries(places)) {
  test(`with --json ${place}, every command prints exactly one JSON document and nothing else on stdout`, async () => {
    await using project = await furnishedProject();
    const safe = leaves().filter((leaf) => ![...unsafe, ...elsewhere].includes(nameOf(leaf)));
    expect(safe.length).toBeGreaterThan(35);
    await inParallel(safe, 3, async (leaf) => {
      const words = [...shortestLine(leaf, project.samples), ...(more[nameOf(leaf)] ?? [])];
      const answer = await project.ovWith({ stdin: "words\n" }, ...put(words));
      const document = jsonOf(answer);
      const seen = `ov ${put(words).join(" ")}`;
      expect({ seen, command: document.command }).toEqual({ seen, command: nameOf(leaf) });
      expect({ seen, ok: document.success }).toEqual({ seen, ok: answer.code === 0 });
      if (document.success === true) return;
      const { error, code, exitCode } = document;
      expect({ seen, error, code, exitCode }).toEqual({
        seen,
        error: expect.stringMatching(/./),
        code: expect.stringMatching(/_ERROR$|_VIOLATION$/),
        exitCode: answer.code,
      });
    });
  }, 240_000);
}

test("a list of no groups, the status of no groups and a set-up are one JSON document each", async () => {
  await using project = await makeProject({ bare: true });
  expect(await project.json("init")).toMatchObject({ success: true, command: "init" });
  expect(await project.json("init")).toMatchObject({ success: true, command: "init", created: [] });
  expect(await project.json("group", "list")).toMatchObject({ success: true, groups: [] });
  expect(await project.json("group", "status")).toMatchObject({ success: true, groups: [] });
});

test("help and version are one JSON document each, too", async () => {
  await using project = await makeProject({ bare: true });
  for (const words of [["--help"], ["help"], ["mail", "send", "--help"], []]) {
    expect(await project.json(...words)).toMatchObject({ success: true });
  }
  expect(await project.json("--version")).toMatchObject({ name: "overstory", version: expect.stringMatching(/^\d/) });
});
