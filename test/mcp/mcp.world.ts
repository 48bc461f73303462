import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { type Agent, freshAgent } from "../../src/domain/agent/agent.ts";
import type { Capability } from "../../src/domain/agent/capability.ts";
import { randomIds } from "../../src/host/ids.ts";
import { openSqlite } from "../../src/store/sqlite.ts";
import { markedCommand, markOfToken } from "../../testkit/marked.ts";
import { ovBinary } from "../../testkit/ov.ts";
import type { TestProject } from "../../testkit/project.ts";
import { statePath } from "../../testkit/state.ts";

export interface Seated {
  readonly agent: Agent;
  readonly token: string;
}

/** An agent of this capability with a token, as if one of its turns was running; no process plays it. */
export async function seat(
  project: TestProject,
  name: string,
  capability: Capability,
  facts: Partial<Agent> = {},
): Promise<Seated> {
  // The store is made by the program itself.
  await project.json("task", "list");
  const token = randomIds.secret();
  const now = Date.now();
  const agent = freshAgent({
    id: randomIds.next("agent"),
    name,
    generation: 1,
    capability,
    runtime: "scripted",
    parentName: "operator",
    depth: 1,
    runId: "run-1",
    taskId: null,
    startedAt: now,
    state: "between_turns",
    ...facts,
  });
  const store = openSqlite({ path: statePath(project.root, "overstory.db"), life: "process" });
  await store.transaction(async (tx) => {
    if ((await tx.runs.get("run-1")) === undefined) {
      await tx.runs.insert({
        id: "run-1",
        objective: null,
        targetBranch: null,
        landingBranch: null,
        coordinatorName: null,
        checklist: false,
        startCommit: null,
        status: "active",
        startedAt: now,
        completedAt: null,
      });
    }
    await tx.agents.reserve(agent);
    const digest = randomIds.digest(token);
    await tx.tokens.insert({ digest, agentId: agent.id, turnId: null, createdAt: now, revokedAt: null });
  });
  await store.close();
  return { agent, token };
}

/** The official client, connected to the real program as this agent, as a part of its turn unless it is `stray`. */
export async function connect(
  project: TestProject,
  { token, stray = false }: { readonly token: string | undefined; readonly stray?: boolean },
  env: Readonly<Record<string, string>> = {},
): Promise<Client & AsyncDisposable> {
  const mark = token === undefined || stray ? undefined : await project.read((tx) => markOfToken(tx, token));
  const [command = "", ...args] = mark === undefined ? [ovBinary(), "mcp"] : markedCommand(mark, [ovBinary(), "mcp"]);
  const transport = new StdioClientTransport({
    command,
    args,
    cwd: project.root,
    env: {
      ...project.env,
      OVERSTORY_PROJECT_ROOT: project.root,
      ...(token === undefined ? {} : { OVERSTORY_TOKEN: token }),
      ...env,
    },
    stderr: "ignore",
  });
  const client = new Client({ name: "test", version: "1" });
  await client.connect(transport);
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
}

export interface ToolAnswer {
  readonly text: string;
  readonly data: Record<string, unknown>;
  readonly isError: boolean;
}

export async function use(client: Client, name: string, given: Record<string, unknown> = {}): Promise<ToolAnswer> {
  const answer = await client.callTool({ name, arguments: given });
  const blocks = Array.isArray(answer.content) ? answer.content : [];
  return {
    text: blocks.map((block: { readonly text?: string }) => block.text ?? "").join("\n"),
    data: Object(answer.structuredContent),
    isError: answer.isError === true,
  };
}

/** A scenario in which every agent leaves its token where the test finds it, and goes on working. */
export const noteToken = `
- do:
    - shell: printf %s "$OVERSTORY_TOKEN" > "$HOME/token.tmp" && mv "$HOME/token.tmp" "$HOME/token"
    - hang: true
`;

export async function notedToken(project: TestProject): Promise<string> {
  const file = join(project.home, "token");
  await project.until("the agent had noted its token", async () => existsSync(file));
  return readFileSync(file, "utf8");
}
