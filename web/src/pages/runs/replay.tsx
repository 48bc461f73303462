import { ChevronFirst, ChevronLast, Pause, Play, SkipBack, SkipForward } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import type { FleetAt } from "../../api/types.ts";
import { useResource } from "../../live/resource.ts";
import { useCommands } from "../../state/commands.ts";
import { useGo, useUrl } from "../../state/url.ts";
import { clockTime, exactTime, money } from "../../state/words.ts";
import { Button, Picker } from "../../ui/controls.tsx";
import { Glyph } from "../../ui/glyph.tsx";
import { type Column, Grid } from "../../ui/grid.tsx";
import { type Look, LookMark } from "../../ui/look.tsx";
import { NarrowRow } from "../../ui/narrow-row.tsx";
import { Empty, Shown } from "../../ui/states.tsx";
import type { Period } from "./gantt-scale.ts";
import css from "./runs-page.module.css";

const speeds = ["8", "30", "120", "600"] as const;
const tickMs = 250;

/** Moves through the past of a run. While `at` is set, the fleet of that moment is shown and nothing can be changed. */
export function Replay({ run, whole, at }: { run: string; whole: Period; at: number | undefined }) {
  const { set, replace } = useUrl();
  const [speed, setSpeed] = useState<(typeof speeds)[number]>("120");
  const [plays, setPlays] = useState(false);
  const moment = Math.min(whole.to, Math.max(whole.from, at ?? whole.to));
  // The live edge moves on by itself. Only a moment that a person chose is read.
  const query = useResource({
    path: "/api/runs/:id/at",
    given: { id: run, at: at === undefined ? 0 : Math.round(moment) },
    isWanted: at !== undefined,
  });
  const to = (next: number | undefined): void =>
    next === undefined || next >= whole.to ? leave() : replace({ t: String(Math.round(next)) });
  const leave = (): void => {
    setPlays(false);
    replace({ t: undefined });
  };
  usePlaying(plays, moment, Number(speed), to);
  const then = at === undefined ? undefined : query.data;
  const toggle = (): void => {
    if (at === undefined) set({ t: String(whole.from) });
    setPlays((before) => !before);
  };
  const back = then?.previousAt == null ? whole.from : Date.parse(then.previousAt);
  const previous = at === undefined ? whole.to - 1000 : back;
  const next = then?.nextAt == null ? undefined : Date.parse(then.nextAt);
  useCommands("Replay", [
    { id: "replay.play", label: plays ? "Pause the replay" : "Play the replay", keys: "Space", run: toggle },
    ...(at === undefined
      ? []
      : [
          {
            id: "replay.back",
            label: "Event before",
            keys: "ArrowLeft",
            run: () => to(previous),
            onlyKeys: true,
          },
          { id: "replay.on", label: "Event after", keys: "ArrowRight", run: () => to(next), onlyKeys: true },
          { id: "replay.leave", label: "Return to now", keys: "Escape", run: leave },
        ]),
  ]);
  return (
    <section className={css.replay} aria-label="Replay">
      {at === undefined ? null : (
        <p className={css.banner} role="status">
          Replay {exactTime(moment)}. Nothing can be changed here; Esc returns to now.
        </p>
      )}
      <div className={css.player}>
        <Button look="quiet" aria-label="To the beginning" onClick={() => to(whole.from)}>
          <ChevronFirst aria-hidden />
        </Button>
        <Button look="quiet" aria-label="Event before" onClick={() => to(previous)}>
          <SkipBack aria-hidden />
        </Button>
        <Button aria-label={plays ? "Pause" : "Play"} onClick={toggle}>
          {plays ? <Pause aria-hidden /> : <Play aria-hidden />}
        </Button>
        <Button look="quiet" aria-label="Event after" onClick={() => to(next)}>
          <SkipForward aria-hidden />
        </Button>
        <Button look="quiet" aria-label="To now" onClick={leave}>
          <ChevronLast aria-hidden />
        </Button>
        <Picker
          label="Speed"
          value={speed}
          options={speeds.map((value) => ({ value, label: `x${value}` }))}
          onChoose={setSpeed}
        />
        <input
          type="range"
          aria-label="Moment of the run"
          aria-valuetext={exactTime(moment)}
          min={whole.from}
          max={whole.to}
          step={1000}
          value={moment}
          onChange={(event) => to(Number(event.target.value))}
        />
        <time>{at === undefined ? "now" : clockTime(moment)}</time>
        {then === undefined ? null : <Counts then={then} />}
      </div>
      {at === undefined ? null : (
        <Shown what="the fleet of that moment" query={query}>
          {(found) => <FrozenFleet then={found} />}
        </Shown>
      )}
    </section>
  );
}

/** Goes on by itself. A moment that is still being read is waited for by the drawing, not by the clock. */
function usePlaying(plays: boolean, moment: number, speed: number, to: (at: number) => void): void {
  const latest = useRef({ moment, to });
  latest.current = { moment, to };
  useEffect(() => {
    if (!plays) return;
    const timer = setInterval(() => latest.current.to(latest.current.moment + tickMs * speed), tickMs);
    return () => clearInterval(timer);
  }, [plays, speed]);
}

type AgentThen = FleetAt["agents"][number];

const looks: Readonly<Record<string, Look>> = {
  turn: { glyph: "in_turn", tone: "live", word: "In turn" },
  queued: { glyph: "booting", tone: "idle", word: "Queued" },
  starting: { glyph: "booting", tone: "idle", word: "Starting" },
  waiting: { glyph: "between_turns", tone: "idle", word: "Waits" },
  parked: { glyph: "parked", tone: "park", word: "Parked" },
  ended: { glyph: "completed", tone: "done", word: "Done" },
  died: { glyph: "zombie", tone: "bad", word: "Dead" },
};
const died = new Set(["crashed", "stalled", "killed", "start_failed"]);
const kindOf = ({ span, outcome }: AgentThen): string => span?.kind ?? (died.has(outcome ?? "") ? "died" : "ended");

function Counts({ then }: { then: FleetAt }) {
  const kinds = new Map<string, number>();
  for (const agent of then.agents) kinds.set(kindOf(agent), (kinds.get(kindOf(agent)) ?? 0) + 1);
  return (
    <span className={css.counts}>
      {Object.entries(looks).flatMap(([kind, { glyph, tone, word }]) => {
        const number = kinds.get(kind);
        return number === undefined
          ? []
          : [
              <span key={kind} title={word}>
                <Glyph name={glyph} tone={tone} word={word} /> {number}
              </span>,
            ];
      })}
      <span>{then.landed.length} landed</span>
      <span>{money(then.costUsd)}</span>
    </span>
  );
}

const order = ["died", "parked", "turn", "starting", "queued", "waiting", "ended"];

function FrozenFleet({ then }: { then: FleetAt }) {
  const go = useGo();
  const rows = then.agents.toSorted(
    (a, b) => order.indexOf(kindOf(a)) - order.indexOf(kindOf(b)) || (a.name < b.name ? -1 : 1),
  );
  return (
    <>
      {then.event === null ? null : (
        <p className={css.event}>
          Last event: <time>{clockTime(then.event.at)}</time> {then.event.agentName} {then.event.text}
        </p>
      )}
      <div className={css.frozen}>
        <Grid
          label="Agents at that moment"
          rows={rows}
          idOf={({ id }) => id}
          nameOf={({ name }) => name}
          columns={columns}
          narrow={(agent) => (
            <NarrowRow>
              <code>{agent.name}</code>
              <State agent={agent} />
              <span className="faint">{doingOf(agent)}</span>
            </NarrowRow>
          )}
          onOpen={({ name }) => go(`/agents/${encodeURIComponent(name)}`)}
          empty={<Empty why="No agent had begun at that moment." />}
        />
      </div>
    </>
  );
}

const State = ({ agent }: { agent: AgentThen }) => (
  <LookMark look={looks[kindOf(agent)] ?? { glyph: "completed", tone: "done", word: "Done" }} />
);

const doingOf = ({ doing, span, outcome }: AgentThen): string => {
  if (doing !== null) return doing.argument === null ? doing.tool : `${doing.tool} ${doing.argument}`;
  return span?.words ?? outcome?.replaceAll("_", " ") ?? "";
};

const columns: readonly Column<AgentThen>[] = [
  {
    id: "name",
    header: "Name",
    width: "minmax(16ch, 1fr)",
    cell: ({ name, generation }) => <code>{generation > 1 ? `${name} g${generation}` : name}</code>,
  },
  { id: "state", header: "State then", width: "14ch", cell: (agent) => <State agent={agent} /> },
  {
    id: "doing",
    header: "Doing or because",
    width: "minmax(20ch, 2fr)",
    cell: (agent) => (
      <span className="cut" title={doingOf(agent)}>
        {doingOf(agent)}
      </span>
    ),
  },
  { id: "task", header: "Task", width: "minmax(10ch, 1fr)", from: 50, cell: ({ taskId }) => taskId },
];
