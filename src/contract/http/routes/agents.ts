import { iso } from "../../values.ts";
import {
  agentView,
  nudgeView,
  pausedAgentsView,
  releasedAgentsView,
  resumedAgentsView,
  seatView,
  stoppedAgentView,
} from "../../views/agent.ts";
import { agentDiffView } from "../../views/diff.ts";
import { eventView, generationView, inspectionView, outputPartView } from "../../views/event.ts";
import { logLineView } from "../../views/project.ts";
import { overviewView } from "../../views/run.ts";
import { webAgentView } from "../../views/web.ts";
import { snapshotView } from "../../views/worktree.ts";
import { change, listOf, newestFirst, page, pageOf, read } from "../route.ts";

const mine = { mailbox: "operator" } as const;

/** Addresses of agents, their events and the overview. */
export const agentsRoutes = {
  "GET /api/overview": read(
    "status.overview",
    (overview) => ({
      ...overviewView({ ...overview, fullDisk: null }, undefined),
      agents: overview.agents.map(webAgentView),
    }),
    { fixed: mine, defaults: { all: false } },
  ),
  "GET /api/agents": read("status.overview", ({ agents }) => listOf(agents.map(webAgentView)), {
    fixed: mine,
    defaults: { all: false },
  }),
  "GET /api/agents/:name": read("status.agent", ({ agent, turns }) => ({
    agent: agentView(agent),
    turns: turns.map((turn) => ({
      id: turn.id,
      status: turn.status,
      trigger: turn.trigger,
      attempt: turn.attempt,
      startedAt: iso(turn.startedAt),
      endedAt: iso(turn.endedAt),
      error: turn.error,
    })),
  })),
  "GET /api/agents/:name/inspect": read("agent.inspect", inspectionView, { defaults: { limit: 50 } }),
  "GET /api/agents/:name/turns": read("turn.list", ({ generations }) => listOf(generations.map(generationView))),
  "GET /api/agents/:agent/snapshots": read("snapshot.list", (snapshots) => listOf(snapshots.map(snapshotView))),
  "GET /api/turns/:turn/output": read("turn.readOutput", outputPartView),
  "GET /api/agents/:name/transcript": read("turn.readNewest", outputPartView),
  "GET /api/agents/:name/log": read(
    "agent.logs",
    ({ lines, older, cursor }) => ({ ...pageOf({ older, newest: cursor }), items: lines.map(logLineView) }),
    { defaults: { lines: page.limit }, names: { limit: "lines" }, isPaged: true },
  ),
  "GET /api/agents/:name/files": read(
    "agent.inspect",
    ({ files, currentFile, agent }) => ({ items: files, currentFile, scope: agent.scope }),
    { fixed: { limit: 1 } },
  ),
  "GET /api/agents/:name/diff": read("agent.showDiff", agentDiffView),
  "GET /api/agents/:agents/events": read("event.list", (found) => newestFirst(found.events, found, eventView), {
    defaults: page,
    isPaged: true,
  }),
  "GET /api/events": read("event.list", (found) => newestFirst(found.events, found, eventView), {
    defaults: page,
    isPaged: true,
    names: { agent: "agents" },
  }),
  "POST /api/agents": change("web.sling", seatView, { defaults: { files: [] } }),
  "POST /api/agents/:name/nudge": change("agent.nudge", nudgeView, { defaults: { force: false } }),
  "POST /api/agents/:name/pause": change("agent.pause", pausedAgentsView, { defaults: { tree: false } }),
  "POST /api/agents/:name/resume": change("agent.resume", resumedAgentsView, { defaults: { tree: false } }),
  "POST /api/agents/:of/retry": change("web.recover", seatView),
  "POST /api/agents/:name/stop": change(
    "agent.stop",
    ({ children, liveChildren, ...own }) => ({
      ...stoppedAgentView(own, { force: false }),
      children: children.map(({ agentName }) => agentName),
      liveChildren,
    }),
    { defaults: { tree: false, force: false }, isLong: true },
  ),
  "POST /api/agents/:name/release": change("agent.release", releasedAgentsView),
} as const;
