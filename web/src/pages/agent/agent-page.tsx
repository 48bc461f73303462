import { useParams } from "@tanstack/react-router";
import { MoreHorizontal } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { useAgentActions } from "../../agents/agent-actions.ts";
import { nowLine } from "../../agents/agent-look.ts";
import { AgentState, NowLine } from "../../agents/agent-state.tsx";
import { useAct } from "../../api/actions.ts";
import { useAgents } from "../../api/resources.ts";
import type { Agent, Generation } from "../../api/types.ts";
import { useResource } from "../../live/resource.ts";
import { useCommands } from "../../state/commands.ts";
import { useGo, useUrl } from "../../state/url.ts";
import { exactTime, money } from "../../state/words.ts";
import { Button, Choice } from "../../ui/controls.tsx";
import { Menu } from "../../ui/overlays.tsx";
import { Empty, Loading, Shown } from "../../ui/states.tsx";
import { Facts } from "../../ui/text.tsx";
import { AgentCost, AgentFacts, AgentFiles } from "./agent-details.tsx";
import { AgentMail } from "./agent-mail.tsx";
import css from "./agent-page.module.css";
import { Snapshots } from "./snapshots.tsx";
import { type Period, Timeline } from "./timeline.tsx";
import { Transcript } from "./transcript.tsx";

/** The diff is large, and most looks at an agent need none. */
const AgentChanges = lazy(() => import("./agent-changes.tsx"));

const tabs = [
  { value: "timeline", label: "Timeline" },
  { value: "changes", label: "Changes" },
  { value: "files", label: "Files" },
  { value: "mail", label: "Mail" },
  { value: "cost", label: "Cost" },
  { value: "transcript", label: "Transcript" },
  { value: "facts", label: "Facts" },
] as const;
type Tab = (typeof tabs)[number]["value"];

/** One agent: what it does now and why, then everything about it in tabs. */
export default function AgentPage() {
  const { name = "" } = useParams({ strict: false }) as { name?: string };
  const { agents, ...query } = useAgents();
  return (
    <Shown what={name} query={{ ...query, data: agents }}>
      {(known) => {
        const agent = known.find((each) => each.name === name);
        return agent === undefined ? <NoAgent name={name} /> : <OneAgent agent={agent} />;
      }}
    </Shown>
  );
}

const NoAgent = ({ name }: { name: string }) => (
  <Empty why={`This run has no agent named ${name}.`} command={`ov inspect ${name}`} />
);

function OneAgent({ agent }: { agent: Agent }) {
  const { search, set, replace } = useUrl();
  const { name } = agent;
  const turns = useResource({ path: "/api/agents/:name/turns", given: { name }, refreshedBy: `agent:${name}` });
  const generations = turns.data?.items ?? [];
  const shown = generations.find(({ generation }) => String(generation) === search.gen) ?? generations.at(-1);
  const isEarlier = shown !== undefined && shown !== generations.at(-1);
  const tab: Tab = tabs.find(({ value }) => value === search.tab)?.value ?? "timeline";
  useCommands(
    "Agent",
    tabs.map(({ value, label }, at) => ({
      id: `agent.tab.${value}`,
      label: `${label} of ${agent.name}`,
      keys: String(at + 1),
      run: () => set({ tab: value === "timeline" ? undefined : value }),
    })),
  );
  return (
    <>
      <Head agent={agent} />
      <div className={css.tabs}>
        <Choice
          label="Part"
          value={tab}
          options={tabs.map(({ value, label }, at) => ({ value, label, keys: String(at + 1) }))}
          onChoose={(value) => replace({ tab: value === "timeline" ? undefined : value, q: undefined })}
        />
        {generations.length < 2 ? null : (
          <Choice
            label="Generation"
            value={String(shown?.generation)}
            options={generations.map(({ generation }) => ({ value: String(generation), label: `g${generation}` }))}
            onChoose={(gen) => set({ gen: gen === String(agent.generation) ? undefined : gen })}
          />
        )}
      </div>
      {isEarlier ? (
        <p className={css.lead}>
          Generation {shown.generation} of {generations.length}: {shown.outcome ?? shown.state}
          {shown.endedAt === null ? "" : `, ended ${exactTime(shown.endedAt)}`}. Totals, files, mail and facts are those
          of {name} now.
        </p>
      ) : null}
      {tab === "timeline" ? (
        <Timeline
          key={`${name} ${isEarlier ? shown.generation : ""}`}
          name={name}
          worktree={agent.worktreePath}
          during={periodOf(shown, isEarlier)}
        />
      ) : null}
      {tab === "changes" ? (
        <Suspense fallback={<Loading what={`the changes of ${name}`} />}>
          <AgentChanges key={name} name={name} />
        </Suspense>
      ) : null}
      {tab === "files" ? <AgentFiles agent={agent} /> : null}
      {tab === "mail" ? <AgentMail name={name} /> : null}
      {tab === "cost" ? <AgentCost agent={agent} generation={shown} /> : null}
      {tab === "transcript" ? <Transcript agent={agent} generation={shown} /> : null}
      {tab === "facts" ? <AgentFacts agent={agent} /> : null}
    </>
  );
}

function periodOf(generation: Generation | undefined, isEarlier: boolean): Period | undefined {
  if (!isEarlier || generation === undefined || generation.startedAt === null) return undefined;
  const until = generation.endedAt === null ? Date.now() : Date.parse(generation.endedAt);
  return { since: Date.parse(generation.startedAt), until };
}

function Head({ agent }: { agent: Agent }) {
  const [showsSnapshots, setShowsSnapshots] = useState(false);
  const go = useGo();
  const actions = useAgentActions();
  const act = useAct();
  const { name, taskId } = agent;
  const post = (verb: string, done: string): void =>
    void act({
      what: `${verb} ${name}`,
      method: "POST",
      path: `/api/agents/${encodeURIComponent(name)}/${verb}`,
      done,
    });
  const paused = actions.isPaused(agent);
  const whyRetry = actions.offline ?? (agent.running ? "It is at work" : undefined);
  useCommands("Agent actions", [
    {
      id: "agent.nudge",
      label: `Nudge ${name}`,
      keys: "n",
      run: () => void actions.nudge(agent),
      disabled: actions.ended(agent),
    },
    {
      id: "agent.message",
      label: `Message ${name}`,
      keys: "m",
      run: () => actions.message(agent),
      disabled: actions.offline,
    },
    {
      id: "agent.stop",
      label: `Stop ${name}`,
      keys: "s",
      run: () => actions.stop([agent]),
      disabled: actions.ended(agent),
    },
  ]);
  return (
    <header className={css.head}>
      <div className={css.first}>
        <h1>{name}</h1>
        {agent.generation > 1 ? <span className="faint">g{agent.generation}</span> : null}
        <AgentState agent={agent} breathes />
        <span className="faint">
          <Facts
            facts={[
              agent.capability,
              [agent.runtime, agent.model].filter(Boolean).join("/"),
              agent.parent === null ? null : `for ${agent.parent}`,
              taskId,
            ]}
          />
        </span>
        <span className={css.cost}>
          {agent.costUsd === undefined ? null : money(agent.costUsd)}
          {agent.limitUsd ? ` of ${money(agent.limitUsd)}` : ""}
        </span>
        <div className={css.actions}>
          <Button keys="m" whyNot={actions.offline} onClick={() => actions.message(agent)}>
            Message
          </Button>
          <Button keys="n" whyNot={actions.ended(agent)} onClick={() => void actions.nudge(agent)}>
            Nudge
          </Button>
          <Menu
            label={`More for ${name}`}
            items={[
              paused
                ? { label: "Resume", run: () => void actions.resume(agent), whyNot: actions.ended(agent) }
                : { label: "Pause", run: () => void actions.pause(agent), whyNot: actions.ended(agent) },
              {
                label: "Retry: go on where it stopped",
                run: () => post("retry", `${name} was recovered.`),
                whyNot: whyRetry,
              },
              { label: "Release", run: () => post("release", `Released ${name}.`), whyNot: whyRetry },
              {
                label: "Copy worktree path",
                run: () => void navigator.clipboard.writeText(agent.worktreePath ?? ""),
                whyNot: agent.worktreePath === null ? "It has no worktree" : undefined,
              },
              { label: "Snapshots", run: () => setShowsSnapshots(true) },
              {
                label: "Review its work",
                run: () => go(`/review/${name}`),
                whyNot: agent.branch === null ? "It has no branch" : undefined,
              },
              undefined,
              { label: "Stop", run: () => actions.stop([agent]), whyNot: actions.ended(agent), danger: true },
            ]}
          >
            <Button aria-label={`More for ${name}`}>
              <MoreHorizontal size="1em" />
            </Button>
          </Menu>
          {showsSnapshots ? <Snapshots name={name} onClose={() => setShowsSnapshots(false)} /> : null}
        </div>
      </div>
      <dl className={css.lines}>
        {/* Each reason is said once. */}
        {[agent.because, agent.problem].includes(nowLine(agent).text) ? null : (
          <div>
            <dt>Now</dt>
            <dd>
              <NowLine agent={agent} />
            </dd>
          </div>
        )}
        {agent.because && agent.because !== agent.problem ? (
          <div>
            <dt>Because</dt>
            <dd>{agent.because}</dd>
          </div>
        ) : null}
        {agent.problem ? (
          <div data-tone="attn">
            <dt>Trouble</dt>
            <dd className={css.trouble}>
              {agent.problem}
              {agent.advice ? ` ${agent.advice}` : ""}
            </dd>
          </div>
        ) : null}
      </dl>
    </header>
  );
}
