import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { agentLook, spineOf } from "../../agents/agent-look.ts";
import { AgentState, NowLine } from "../../agents/agent-state.tsx";
import { useAgents, useAttention, useOverview } from "../../api/resources.ts";
import { type RunSummary, useRunSummary } from "../../api/run-summary.ts";
import type { Agent, Overview } from "../../api/types.ts";
import { AttentionList } from "../../shell/attention.tsx";
import { useNow } from "../../state/clock.ts";
import { useGo, useUrl } from "../../state/url.ts";
import { count, money, span } from "../../state/words.ts";
import { Glyph, type GlyphName, type Tone } from "../../ui/glyph.tsx";
import { Section } from "../../ui/page.tsx";
import { Empty, Shown } from "../../ui/states.tsx";
import { Checklist } from "./checklist.tsx";
import { Landings } from "./landings.tsx";
import css from "./overview-page.module.css";
import { SinceYouLeft } from "./since-you-left.tsx";

export default function OverviewPage() {
  const query = useOverview();
  return (
    <div className={css.page}>
      <Shown what="the overview" query={query}>
        {(overview) =>
          overview.currentRunId === null && overview.agents.length === 0 ? <NoRun /> : <Sheet overview={overview} />
        }
      </Shown>
    </div>
  );
}

const NoRun = () => (
  <>
    <h1 className="visually-hidden">Overview</h1>
    <Empty
      why="No run yet. Give the coordinator an objective; it splits the work and starts the agents."
      action={<Link to="/coordinator">Give an objective</Link>}
      command='ov go "your objective"'
    />
  </>
);

function Sheet({ overview }: { overview: Overview }) {
  const summary = useRunSummary();
  return (
    <>
      <RunStrip summary={summary} />
      <div className={css.columns}>
        <div className={css.column}>
          <NeedsYou summary={summary} />
          <FleetLines />
        </div>
        <div className={css.column}>
          <Checklist overview={overview} />
          <Landings landings={summary.landings.slice(0, 5)} />
          <Pace summary={summary} />
          <SinceYouLeft />
        </div>
      </div>
    </>
  );
}

/** How far the run is and when it may be done, with the basis of the guess. */
function RunStrip({ summary: { run, progress, projection } }: { summary: RunSummary }) {
  const share = progress === undefined || progress.total === 0 ? 0 : (progress.landed / progress.total) * 100;
  return (
    <header className={css.strip}>
      <h1>{run?.objective ?? "Overview"}</h1>
      {progress === undefined || progress.total === 0 ? null : (
        <p>
          <b>
            {progress.landed} of {count(progress.total, "task")}
          </b>{" "}
          landed
          {progress.queued > 0 ? `, ${progress.queued} in the queue` : ""}
          {progress.working > 0 ? `, ${progress.working} in work` : ""}
          {progress.ready > 0 ? `, ${progress.ready} ready` : ""}
        </p>
      )}
      {projection === undefined ? null : (
        <p className={css.projection}>
          about {span(projection.ms)} left ({projection.basis})
        </p>
      )}
      <svg className={css.progress} viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
        <rect width={share} height="1" />
      </svg>
    </header>
  );
}

function NeedsYou({ summary: { projection } }: { summary: RunSummary }) {
  const { data } = useAttention();
  const { agents = [] } = useAgents();
  const open = data?.items.length ?? 0;
  const live = agents.filter(({ running }) => running).length;
  const done = projection === undefined ? "" : ` Done in about ${span(projection.ms)}.`;
  return (
    <Section title={open === 0 ? "Needs you" : `Needs you ${open}`}>
      <AttentionList
        calm={`Nothing needs you. ${live === 0 ? "No agent is at work." : `${count(live, "agent")} at work.`}${done}`}
      />
    </Section>
  );
}

/** The fleet in a count per state, then one line for each agent that lives. */
function FleetLines() {
  const { agents = [] } = useAgents();
  const now = useNow(60_000);
  const go = useGo();
  const { set } = useUrl();
  const live = useMemo(
    () => agents.filter(({ running }) => running).toSorted((a, b) => agentLook(a, now).rank - agentLook(b, now).rank),
    [agents, now],
  );
  return (
    <Section
      title={`Fleet, ${live.length} live`}
      more={
        <span className={css.counts}>
          <StateCounts agents={agents} now={now} />
          <Link to="/fleet">All agents</Link>
        </span>
      }
    >
      {live.length === 0 ? <Empty why="No agent is at work." command='ov sling "..."' /> : null}
      <ul className={css.fleet}>
        {live.map((agent) => (
          <li key={agent.name} data-tone={spineOf(agentLook(agent, now))}>
            <button
              type="button"
              onClick={() => set({ peek: `agent:${agent.name}` })}
              onDoubleClick={() => go(`/agents/${agent.name}`)}
            >
              <span className={css.name}>{agent.name}</span>
              <AgentState agent={agent} breathes={live.length <= 40} />
              <NowLine agent={agent} />
            </button>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function StateCounts({ agents, now }: { agents: readonly Agent[]; now: number }) {
  const counts = new Map<GlyphName, { tone: Tone; word: string; number: number; rank: number }>();
  for (const agent of agents) {
    const { glyph, tone, word, rank } = agentLook(agent, now);
    const before = counts.get(glyph);
    counts.set(glyph, { tone, word: word.split(" ")[0] ?? word, rank, number: (before?.number ?? 0) + 1 });
  }
  return [...counts]
    .toSorted(([, a], [, b]) => a.rank - b.rank)
    .map(([glyph, { tone, word, number }]) => (
      <span key={glyph} className={css.count}>
        <Glyph name={glyph} tone={tone} word={`${word}:`} /> {number}
      </span>
    ));
}

/** How fast work lands, and what it costs. */
function Pace({ summary: { landingsPerHour, burn } }: { summary: RunSummary }) {
  if (landingsPerHour === null && burn === undefined) return null;
  return (
    <Section title="Pace and spending">
      <dl className={css.pace}>
        {landingsPerHour === null ? null : (
          <div>
            <dt>Landings</dt>
            <dd>{landingsPerHour.toFixed(1)} per hour</dd>
          </div>
        )}
        {burn === undefined ? null : (
          <div>
            <dt>Spent</dt>
            <dd>
              {money(burn.usd)}
              {burn.limit === null ? "" : ` of ${money(burn.limit)}`}
              {burn.usdPerHour === null ? "" : `, ${money(burn.usdPerHour)} per hour`}
            </dd>
          </div>
        )}
      </dl>
    </Section>
  );
}
