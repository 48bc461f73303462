import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { makeProject } from "../../testkit/project.ts";
import { confining, testConfined, withoutBubblewrap } from "../../testkit/sandboxed.ts";

const builder = `
- when: { capability: builder }
  do:
    - edit: { file: greeting.txt, write: "hello\\n" }
    - commit: "Add a greeting"
`;

const ended = `
    - ov: [done, --summary, "The greeting is there."]
    - say: Done.
`;

testConfined("ov diff and ov merge radar work inside a confined agent, and write nothing to the project", async () => {
  const look = `
    - edit: { file: more.txt, write: "not committed\\n" }
    - shell: ov diff b1 > "$OVERSTORY_SCENARIO_STATE/diff" 2>&1; ov merge radar --json > "$OVERSTORY_SCENARIO_STATE/radar" 2>&1 || true
    - shell: rm more.txt
    - touch: \${env.OVERSTORY_SCENARIO_STATE}/looked
`;
  await using project = await makeProject({ config: confining, gates: ["true"], scenario: builder + look + ended });
  await project.json("task", "create", "Greet", "--id", "T1");
  await project.json("sling", "T1", "--name", "b1", "--capability", "builder");
  await project.until("it had looked", async () => existsSync(join(project.state, "looked")));
  const diff = readFileSync(join(project.state, "diff"), "utf8");
  expect(diff).toContain("+hello");
  expect(diff).toContain("+not committed");
  const radar = readFileSync(join(project.state, "radar"), "utf8");
  expect(JSON.parse(radar)).toMatchObject({ success: true });
  await project.settled();
  expect(await project.agent("b1")).toMatchObject({ outcome: "done" });
});

test.each([true, false])(
  "sandbox.required: %p decides whether setup and gates run where the system cannot confine them",
  (required) =>
    withoutBubblewrap(async (PATH) => {
      await using project = await makeProject({
        config: `${confining}  required: ${required}\nmerge:\n  setup: touch "$HOME/setup-ran"\n`,
        env: { PATH },
        gates: ['touch "$HOME/gate-ran"'],
        files: { "package.json": "{}\n" },
      });
      await project.git("switch", "--quiet", "--create", "work");
      await Bun.write(join(project.root, "a.txt"), "a\n");
      await project.git("add", "a.txt");
      await project.git("commit", "--quiet", "--message", "Add a");
      await project.git("switch", "--quiet", "main");
      const merged = await project.ov("merge", "--branch", "work");
      const ran = ["setup-ran", "gate-ran"].map((name) => existsSync(join(project.home, name)));
      expect(ran).toEqual([!required, !required]);
      expect(merged.code === 0).toBe(!required);
      expect(await project.read((tx) => tx.merges.list({ statuses: ["merged"] }))).toHaveLength(required ? 0 : 1);
      if (!required) return;
      expect(merged.out).toContain("Not merged yet");
      expect(merged.err).toContain("bubblewrap cannot confine a program here");
      expect((await project.git("ls-tree", "--name-only", "main")).includes("a.txt")).toBe(false);
    }),
  120_000,
);

testConfined(
  "with sandbox.required gates and setup run confined, and write nothing outside of their checkout",
  async () => {
    await using project = await makeProject({
      config: `${confining}  required: true\nmerge:\n  setup: echo made > made.log; touch "$HOME/setup-ran"\n`,
      gates: ['test -s made.log && ls "$HOME" && touch "$HOME/gate-ran"'],
      files: { "README.md": "# Sample\n", ".gitignore": "*.log\n" },
    });
    await project.git("switch", "--quiet", "--create", "work");
    await Bun.write(join(project.root, "a.txt"), "a\n");
    await project.git("add", "a.txt");
    await project.git("commit", "--quiet", "--message", "Add a");
    await project.git("switch", "--quiet", "main");
    const merged = await project.ov("merge", "--branch", "work");
    expect(merged, merged.err).toMatchObject({ code: 0 });
    expect(await project.read((tx) => tx.merges.list({ statuses: ["merged"] }))).toHaveLength(1);
    for (const mark of ["setup-ran", "gate-ran"])
      expect([mark, existsSync(join(project.home, mark))]).toEqual([mark, false]);
  },
);
