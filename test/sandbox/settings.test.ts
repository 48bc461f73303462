import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeProject } from "../../testkit/project.ts";
import { confining, testConfined, withoutBubblewrap } from "../../testkit/sandboxed.ts";

const scenario = `
- do:
    - shell: cat "$HOME/.npmrc" > "$OVERSTORY_SCENARIO_STATE/read"; echo x > "$HOME/shared/written" || true
    - touch: \${env.OVERSTORY_SCENARIO_STATE}/looked
`;

testConfined("sandbox.readable shows a hidden file, and sandbox.writable lets agents write one", async () => {
  const lists = `${confining}  readable: ["~/.npmrc"]\n  writable: ["~/shared"]\n`;
  for (const config of [confining, lists]) {
    await using project = await makeProject({ config, scenario });
    writeFileSync(join(project.home, ".npmrc"), "//registry/:_authToken=x\n");
    mkdirSync(join(project.home, "shared"));
    await project.json("task", "create", "Look", "--id", "T1");
    await project.json("sling", "T1", "--name", "s1", "--capability", "scout");
    const read = join(project.state, "read");
    await project.until("it had looked", async () => existsSync(join(project.state, "looked")));
    expect(readFileSync(read, "utf8")).toBe(config === lists ? "//registry/:_authToken=x\n" : "");
    expect(existsSync(join(project.home, "shared/written"))).toBe(config === lists);
  }
});

test("sandbox.required refuses agents where the system cannot confine them", () =>
  withoutBubblewrap(async (PATH) => {
    await using project = await makeProject({ config: `${confining}  required: true\n`, env: { PATH } });
    await project.json("task", "create", "Look", "--id", "T1");
    const refused = await project.ov("sling", "T1", "--name", "s1", "--capability", "scout");
    expect(refused.code).toBe(3);
    expect(refused.err).toContain("No permissions to create new namespace");
    expect(refused.err).toContain("ov config set sandbox.required false");
    expect(await project.read((tx) => tx.agents.list({}))).toEqual([]);
  }));

test("without sandbox.required agents work guarded, and every command of the operator says so", () =>
  withoutBubblewrap(async (PATH) => {
    await using project = await makeProject({
      config: confining,
      env: { PATH },
      scenario: "- do: [{ say: Hello. }]\n",
    });
    await project.json("task", "create", "Look", "--id", "T1");
    const slung = await project.ov("sling", "T1", "--name", "s1", "--capability", "scout");
    expect([slung.code, slung.err]).toEqual([0, expect.stringContaining("nothing confines agents")]);
    expect((await project.ov("status")).err).toContain(
      "sandbox.mode is os, but bubblewrap cannot confine a program here",
    );
    await project.until("it had a turn", async () => (await project.agent("s1")).providerSessionId !== null);
  }));
