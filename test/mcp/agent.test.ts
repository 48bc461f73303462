import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Progress } from "@modelcontextprotocol/sdk/types.js";
import { slingNew, startsOf, untilAgent } from "../../testkit/lifecycle.ts";
import { ovBinary } from "../../testkit/ov.ts";
import { makeProject } from "../../testkit/project.ts";
import { connect, notedToken, noteToken, use } from "./mcp.world.ts";

const journey = `
- when: { agent: b1 }
  do:
    - mcp: { tool: task_show }
      expect: "B1 [in_progress, P2] Task B1"
    - mcp: { tool: spawn, arguments: { task_id: X, capability: builder, files: [] } }
      expect: "b1 may not use the tool spawn"
      allowFail: true
    - edit: { file: new.txt, write: "hello\\n" }
    - commit: Add a file
    - mcp: { tool: checkpoint, arguments: { progress: "the file is there" } }
    - mcp:
        tool: send
        arguments: { to: operator, type: worker_done, subject: Done, body: "on \${branch}" }
      expect: Finished; your parent has been told
`;

test("an agent's program is told of the server, starts it, and works through it", async () => {
  await using project = await makeProject({ scenario: journey });
  await slingNew(project, "B1");
  await untilAgent(project, "b1", "completed/done");
  const [start] = startsOf(project, "b1");
  const at = start?.argv.indexOf("--mcp-config") ?? -1;
  expect(at).toBeGreaterThan(0);
  expect(start?.argv).toContain("--strict-mcp-config");
  // No file: another agent could have changed that, and its server would run with our token.
  const told = start?.argv[at + 1] ?? "";
  expect(JSON.parse(told)).toMatchObject({ mcpServers: { overstory: { command: ovBinary(), args: ["mcp"] } } });
  expect(told).not.toMatch(/token/i);
  const [done] = await project.read((tx) => tx.messages.list({ type: "worker_done" }));
  expect(done).toMatchObject({
    fromAgent: "b1",
    verified: true,
    body: expect.stringMatching(/^on overstory\/b1\/B1\n/),
  });
  // What it wrote down outlives the turn, which would otherwise only leave its last words.
  expect(await project.read((tx) => tx.recovery.checkpoint("b1"))).toMatchObject({ summary: "the file is there" });
  expect(await project.read((tx) => tx.audit.list(9))).toMatchObject([{ caller: "b1", action: "identity.tool" }]);
  // Whatever was started for it ends with it.
  await project.until("every process had ended", async () => project.processes().length === 0);
});

const finishing = `
- when: { agent: b1, turn: 1 }
  do:
    - edit: { file: new.txt, write: "hello\\n" }
    - mcp: { tool: finish, arguments: { summary: "All is done." } }
      expect: Not finished. What is missing
      allowFail: true
    - commit: Add a file
    - mcp: { tool: finish, arguments: { summary: "All is done." } }
      expect: Finished; your parent has been told
`;

test("an agent that says it is done is told what is missing, and is done once that is mended", async () => {
  await using project = await makeProject({ scenario: finishing });
  await slingNew(project, "B1");
  await untilAgent(project, "b1", "completed/done");
  const [done] = await project.read((tx) => tx.messages.list({ type: "worker_done" }));
  expect(done).toMatchObject({ fromAgent: "b1", address: "operator", verified: true });
  expect(done?.body).toContain("All is done.");
  expect(JSON.parse(done?.payload ?? "")).toMatchObject({ filesModified: ["new.txt"], branch: "overstory/b1/B1" });
  expect(await project.read((tx) => tx.messages.list({ type: "worker_done" }))).toHaveLength(1);
});

test("the official client goes from mail to finish, and hears meanwhile what is going on", async () => {
  await using project = await makeProject({ scenario: noteToken });
  await slingNew(project, "B1");
  await using client = await connect(project, { token: await notedToken(project) });
  await project.json("mail", "send", "--to", "b1", "--subject", "Name", "--body", "call it new.txt", "--no-wake");
  expect((await use(client, "inbox")).text).toContain("| call it new.txt");
  const worktree = (await project.agent("b1")).worktreePath ?? "";
  writeFileSync(join(worktree, "new.txt"), "hello\n");
  await project.git("-C", worktree, "add", "new.txt");
  await project.git("-C", worktree, "commit", "--quiet", "-m", "Add a file");
  const heard: (string | undefined)[] = [];
  const onprogress = ({ message }: Progress): void => void heard.push(message);
  const call = { name: "finish", arguments: { summary: "Named as asked." } };
  const answer = await client.callTool(call, undefined, { onprogress });
  expect(answer).toMatchObject({ structuredContent: { status: "done" } });
  expect(heard.length).toBeGreaterThan(0);
  const [done] = await project.read((tx) => tx.messages.list({ type: "worker_done" }));
  expect(done).toMatchObject({ fromAgent: "b1", verified: true });
});
