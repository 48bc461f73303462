import { slingNew } from "../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";

/** What the agent of `scriptedRun` does, as tests compare it with what commands show. */
export const script = {
  task: "B1",
  agent: "b1",
  said: "I begin \u001b[31mred \u202etext.",
  calls: [
    { tool: "Write", summary: "work.txt", failed: false },
    { tool: "Bash", summary: "sleep 0.2; echo one", failed: false },
    { tool: "Bash", summary: "echo no >&2; exit 3", failed: true },
  ],
  mail: { to: "operator", type: "worker_done", subject: "Done \u001b[2J" },
} as const;

const scenario = `
- do:
    - say: "I begin \\e[31mred \\u202etext."
    - edit: { file: work.txt, write: "one\\ntwo\\n" }
    - shell: "sleep 0.2; echo one"
    - shell: "echo no >&2; exit 3"
      allowFail: true
    - commit: work
    - ov: [mail, send, --to, operator, --type, worker_done, --subject, "Done \\e[2J", --body, done]
`;

/** Other tests may run at the same time. */
const patienceMs = 150_000;

/** One agent did its work and ended, and the engine has left. */
export async function scriptedRun(): Promise<TestProject> {
  const project = await makeProject({ scenario });
  await slingNew(project, script.task);
  await project.until(
    "the agent had done its work",
    async () => (await project.read((tx) => tx.agents.byName(script.agent)))?.outcome === "done",
    patienceMs,
  );
  await project.settled(patienceMs);
  await project.json("engine", "stop");
  await project.until("no engine was left", async () => (await project.json("engine", "status")).running === false);
  return project;
}

/** The zones in which commands are tried: half an hour off, and on the other side of the date. */
export const zones = ["America/Los_Angeles", "Asia/Kolkata", "UTC"] as const;
