import { expect } from "bun:test";
import { makeProject, type ProjectOptions, type TestProject } from "../../testkit/project.ts";

const scenario = `
- when: { capability: builder }
  do:
    - say: I will write the greeting.
    - edit: { file: greeting.txt, write: "hello\\n" }
    - commit: add the greeting
    - ov: [mail, send, --to, operator, --type, worker_done, --subject, "Done: \${task}", --body, greeting.txt says hello]
    - say: Finished.
`;

/** The thinnest real journey: one task, one builder that edits, commits and reports. */
export const skeletonProject = (options: ProjectOptions = {}): Promise<TestProject> =>
  makeProject({ scenario, ...options });

/** What must be true at the end, whoever was killed on the way. */
export async function expectSkeletonDone(project: TestProject): Promise<void> {
  await project.until("the builder completed", async () => (await project.agent("b1")).state === "completed");
  await project.settled();
  const agent = await project.agent("b1");
  expect(agent).toMatchObject({ state: "completed", outcome: "done", branch: "overstory/b1/T1", generation: 1 });
  expect(await project.git("show", "overstory/b1/T1:greeting.txt")).toBe("hello\n");
  const { mail, open, dispatch, running } = await project.read(async (tx) => ({
    mail: await tx.messages.list({ to: "operator", type: "worker_done" }),
    open: await tx.deliveries.inState("b1", ["queued", "claimed", "delivered", "dead"]),
    dispatch: await tx.deliveries.inState("b1", ["acked"]),
    running: await tx.turns.running(),
  }));
  expect(mail).toHaveLength(1);
  expect(mail[0]).toMatchObject({ fromAgent: "b1", verified: true });
  expect(open).toEqual([]);
  expect(dispatch).toHaveLength(1);
  expect(running).toEqual([]);
  expect(await project.git("status", "--porcelain", "--untracked-files=no")).toBe("");
  await project.until("every process had ended", async () => project.processes().length === 0);
}
