import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { Agent } from "../../src/domain/agent/agent.ts";
import { slingNew, untilFile } from "../../testkit/lifecycle.ts";
import { jsonOf, type OvAnswer } from "../../testkit/ov.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";

const everybody = (project: TestProject): Promise<Agent[]> => project.read((tx) => tx.agents.list({}));

describe("ov sling says no, each time with its own reason", () => {
  test("to a builder, to an unknown parent, to a second lead, to overlapping files", async () => {
    await using project = await makeProject({
      scenario: `
- when: { agent: b1 }
  do:
    - shell: ov sling "My own helper" --name helper > "$HOME/helper" 2>&1
      expect: 8
    - touch: "\${env.HOME}/ready"
    - hang: true
- do: [{ hang: true }]
`,
    });
    await slingNew(project, "L1", "--capability", "lead", "--files", "docs");
    await slingNew(project, "B1", "--files", "src/**");
    await untilFile(project, "ready");
    const refusal = async (...args: string[]): Promise<string> => {
      const answer = await project.ov("sling", ...args);
      expect(answer.code).not.toBe(0);
      return answer.err;
    };
    const messages = [
      [await Bun.file(join(project.home, "helper")).text(), "b1 may not start a builder"],
      [await refusal("Some work", "--parent", "l2"), 'no agent "l2"'],
      [await refusal("L1", "--capability", "lead", "--name", "l2"), 'task L1 is held by "l1"'],
      [await refusal("Other work", "--files", "src/a.ts"), 'src/a.ts may touch src/**, which "b1" owns'],
      [await refusal("Other docs", "--files", "docs/x.md"), 'docs/x.md may touch docs, which "l1" owns'],
    ] as const;
    for (const [message, expected] of messages) expect(message).toContain(expected);
    expect((await everybody(project)).map(({ name }) => name).toSorted()).toEqual(["b1", "l1"]);
    expect(await project.read((tx) => tx.tasks.list({}))).toHaveLength(2);
    const audited = await project.read((tx) => tx.audit.list(9));
    expect(audited).toMatchObject([{ caller: "b1", action: "agent.sling", refused: true }]);
  });

  test("to a depth beyond the limit, whatever depth the caller claims", async () => {
    await using project = await makeProject({
      config: "agents:\n  maxDepth: 1\n",
      scenario: `
- do:
    - shell: ov sling "Deeper work" --name deep --depth 0 > "$HOME/deep" 2>&1
      expect: 2
    - touch: "\${env.HOME}/ready"
    - hang: true
`,
    });
    await slingNew(project, "L1", "--capability", "lead", "--depth", "0");
    expect(await project.agent("l1")).toMatchObject({ depth: 1 });
    await untilFile(project, "ready");
    expect(await Bun.file(join(project.home, "deep")).text()).toContain(
      "would be at depth 2, and at most 1 is allowed",
    );
    expect(await everybody(project)).toHaveLength(1);
    const warned = await project.ov("sling", "Shallow work", "--depth", "0", "--dry-run");
    expect(warned.err).toContain("--depth 0 is ignored: the depth follows from the parent and is 1");
  });

  test("to every name that could not be a directory and a branch, and to the reserved ones", async () => {
    await using project = await makeProject();
    await project.json("task", "create", "One", "--id", "T1");
    const names = [
      "",
      "../x",
      "a b",
      "-x",
      "a".repeat(65),
      "Big",
      "a..b",
      "x.lock",
      "a/b",
      ".x",
      "é",
      "operator",
      "system",
    ];
    const answers = await Promise.all(names.map((name) => project.ov("sling", "T1", `--name=${name}`, "--json")));
    for (const [n, answer] of answers.entries()) expect([names[n], answer.code]).toEqual([names[n], 2]);
    for (const answer of answers) expect(kindOf(answer)).toBe("invalid");
    for (const id of ["../x", "a..b", ""]) {
      expect((await project.ov("sling", id, "--title", "t", "--name", "ok")).code).toBe(2);
    }
    expect(await everybody(project)).toEqual([]);
    const longest = "a".repeat(64);
    expect((await project.ov("sling", "T1", "--name", longest, "--dry-run")).code).toBe(0);
  });
});

const kindOf = (answer: OvAnswer): unknown => Object(jsonOf(answer).details).kind;
