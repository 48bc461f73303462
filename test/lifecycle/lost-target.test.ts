import { expect, test } from "bun:test";
import { makeApp } from "../../src/compose/app.ts";
import { slingNew, untilAgent } from "../../testkit/lifecycle.ts";
import { makeProject } from "../../testkit/project.ts";

test("a target that was renamed is told at the next sling and in the status, and retarget ends the warning", async () => {
  await using project = await makeProject({
    scenario: `
- do:
    - edit: { file: a.txt, write: "a\\n" }
    - commit: work
    - ov: [done, --summary, All done]
`,
  });
  await slingNew(project, "B1");
  await untilAgent(project, "b1", "completed/done");
  const target = (await project.json("run", "show")).run as { readonly targetBranch: string };
  const gone = `there is no branch ${target.targetBranch} any more`;
  expect((await project.ov("status")).out).not.toContain(gone);
  await project.git("pack-refs", "--all");
  expect((await project.ov("status")).out).not.toContain(gone);
  await project.git("branch", "-m", target.targetBranch, "renamed");
  expect((await project.ov("status")).out).toContain(`${gone}, and nothing can land on it`);
  expect((await project.json("status")).missingTargets).toEqual([target.targetBranch]);
  // Not by the command line alone: every caller of the operation is told.
  const app = makeApp({ cwd: project.root, env: project.env, project: undefined });
  expect(await app.call("status.overview", { all: false, mailbox: "operator" })).toMatchObject({
    ok: true,
    value: { missingTargets: [{ target: target.targetBranch }] },
  });
  await project.json("task", "create", "more", "--id", "B2");
  const slung = await project.ov("sling", "B2", "--capability", "builder", "--name", "b2");
  expect(slung.code).toBe(0);
  expect(slung.err).toContain(gone);
  await project.json("task", "create", "even more", "--id", "B3");
  const document = await project.json("sling", "B3", "--capability", "builder", "--name", "b3");
  expect(document.warnings).toContainEqual(expect.stringContaining(gone));
  await project.json("run", "retarget", "renamed");
  expect((await project.ov("status")).out).not.toContain("any more");
}, 120_000);
