import { expect } from "bun:test";
import { makeProject } from "../../testkit/project.ts";
import { confining, testConfined } from "../../testkit/sandboxed.ts";

const scenario = `
- when: { capability: builder }
  do:
    - edit: { file: greeting.txt, write: "hello\\n" }
    - commit: "Add a greeting"
    - ov: [done, --summary, "The greeting is there."]
    - say: Done.
`;

testConfined(
  "a confined builder commits in its own repository, finishes over the command channel, and lands",
  async () => {
    await using project = await makeProject({ config: confining, gates: ["test -f README.md"], scenario });
    await project.json("task", "create", "Greet", "--id", "T1");
    await project.json("sling", "T1", "--name", "b1", "--capability", "builder");
    await project.settled();
    expect(await project.agent("b1")).toMatchObject({ worktreeKind: "clone", outcome: "done", ahead: 1 });
    expect(await project.json("merge", "--branch", "overstory/b1/T1")).toMatchObject({ success: true });
    const entry = (await project.read((tx) => tx.merges.list({}))).at(-1);
    expect(entry).toMatchObject({ status: "merged", verdict: "verified" });
    await project.until("every process had ended", async () => project.processes().length === 0);
  },
);
