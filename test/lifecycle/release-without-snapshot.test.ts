import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { makeProject } from "../../testkit/project.ts";

const scenario = `
- when: { capability: builder }
  do:
    - edit: { file: draft.txt, write: "work\\n" }
    - say: Half done.
`;

test("a released agent's worktree stays while its uncommitted work cannot be kept", async () => {
  await using project = await makeProject({ scenario });
  await project.json("task", "create", "Draft", "--id", "T1");
  // No ref can be made below a ref.
  await project.git("update-ref", "refs/overstory/snap/b1", "HEAD");
  await project.json("sling", "T1", "--name", "b1", "--capability", "builder");
  await project.settled();
  await project.json("stop", "b1");
  await project.json("release", "b1");
  await project.until("b1 was cleaned up", async () => (await project.agent("b1")).cleanedAt !== null);
  const { worktreePath } = await project.agent("b1");
  expect(readFileSync(join(worktreePath ?? "", "draft.txt"), "utf8")).toBe("work\n");
});
