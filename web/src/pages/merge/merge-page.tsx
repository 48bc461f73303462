import { lazy, Suspense } from "react";
import type { MergeState } from "../../api/types.ts";
import { useResource } from "../../live/resource.ts";
import { useMergeActions } from "../../merges/merge-actions.ts";
import { runGates } from "../../merges/run-gates.ts";
import { useCommands } from "../../state/commands.ts";
import { useUrl } from "../../state/url.ts";
import { count } from "../../state/words.ts";
import { Button, Choice, Filter } from "../../ui/controls.tsx";
import { Glyph } from "../../ui/glyph.tsx";
import { confirm } from "../../ui/overlays.tsx";
import { PageHead } from "../../ui/page.tsx";
import { Loading } from "../../ui/states.tsx";
import { Age } from "../../ui/text.tsx";
import { HistoryList } from "./history-list.tsx";
import css from "./merge-page.module.css";
import { QueueList } from "./queue-list.tsx";
import { TrainStrip } from "./train-strip.tsx";

const RadarMap = lazy(() => import("./radar-map.tsx"));

const views = [
  { value: "queue", label: "Queue" },
  { value: "history", label: "History" },
  { value: "radar", label: "Radar" },
] as const;
type View = (typeof views)[number]["value"];

/** How branches come back: what lands next, what is stuck and why, what has landed, what would collide. */
export default function MergePage() {
  const { search, set, replace } = useUrl();
  const view: View = views.find(({ value }) => value === search.view)?.value ?? "queue";
  const { data: state } = useResource({ path: "/api/merge/state", topic: "merge-state" });
  const show = (value: View): void => set({ view: value === "queue" ? undefined : value, pair: undefined });
  const { pauseQueue, resumeQueue, offline } = useMergeActions();
  const isPaused = state !== undefined && state.paused !== null;
  useCommands("Merge views", [
    ...views.map(({ value, label }, at) => ({
      id: `merge.${value}`,
      label: `Merge: ${label.toLowerCase()}`,
      keys: String(at + 1),
      run: () => show(value),
    })),
    {
      id: "merge.pause",
      label: isPaused ? "Resume the queue" : "Pause the queue",
      run: isPaused ? resumeQueue : pauseQueue,
      disabled: offline,
    },
    { id: "merge.gates", label: "Run gates on...", run: askForGates, disabled: offline },
    {
      id: "merge.filter",
      label: "Filter merges",
      keys: "/",
      run: () => document.querySelector<HTMLElement>("#merge-filter")?.focus(),
    },
  ]);
  return (
    <>
      <PageHead title="Merge">
        <Choice
          label="View"
          value={view}
          options={views.map((each, at) => ({ ...each, keys: String(at + 1) }))}
          onChoose={show}
        />
        {view === "radar" ? null : (
          <Filter
            id="merge-filter"
            label="Filter: branch, agent, task"
            value={search.q ?? ""}
            onChange={(q) => replace({ q: q === "" ? undefined : q })}
          />
        )}
        {state === undefined ? null : <Terms state={state} />}
        <Button whyNot={offline} onClick={askForGates}>
          Run gates on...
        </Button>
        {state === undefined || state.paused !== null ? null : (
          <Button whyNot={offline} onClick={pauseQueue}>
            Pause queue
          </Button>
        )}
      </PageHead>
      {state === undefined || state.paused === null ? null : <Pause paused={state.paused} />}
      {state === undefined || view === "radar" ? null : <Promotions state={state} />}
      {state === undefined || view !== "queue"
        ? null
        : state.trains.map((train) => <TrainStrip key={train.id} train={train} />)}
      {view === "queue" ? <QueueList /> : null}
      {view === "history" ? <HistoryList /> : null}
      {view === "radar" ? (
        <Suspense fallback={<Loading what="the radar" />}>
          <RadarMap />
        </Suspense>
      ) : null}
    </>
  );
}

/** Nothing lands by it: it says whether something would pass. */
const askForGates = (): void =>
  confirm({
    title: "Run gates on...",
    effects: ["In a checkout of its own. Nothing lands, and no checkout of yours changes."],
    words: { label: "Branch, commit or agent" },
    danger: false,
    verb: "Run gates",
    run: (ref) => void runGates(ref),
  });

const modes: Readonly<Record<MergeState["mode"], string>> = {
  auto: "lands by itself",
  approve: "every branch waits for your word",
  manual: "lands when you say so",
};

/** Where work lands, under which rules. */
const Terms = ({ state: { target, meantFor, mode, gates } }: { state: MergeState }) => (
  <p className={css.terms} title={meantFor === null ? undefined : `Work lands on ${target}, then is promoted`}>
    into <b className="mono">{meantFor ?? target}</b>, {modes[mode]}
    {gates.length === 0 ? (
      <span data-tone="attn" className={css.warn}>
        , no gate is configured
      </span>
    ) : (
      `, gates: ${gates.join(", ")}`
    )}
  </p>
);

/** The pause of the queue: since when, why, and the button that ends it. */
function Pause({ paused }: { paused: NonNullable<MergeState["paused"]> }) {
  const { resumeQueue, offline } = useMergeActions();
  return (
    <div className={css.promotion} data-tone="attn">
      <p>
        <Glyph name="parked" tone="attn" word="paused" /> <span className={css.warn}>The queue is paused</span> for{" "}
        <Age at={paused.since} form="span" />
        {paused.reason === null ? "" : `: ${paused.reason}`}. Nothing lands before it is resumed.
      </p>
      <Button look="primary" whyNot={offline} onClick={resumeQueue}>
        Resume queue
      </Button>
    </div>
  );
}

/** What has landed on a branch of ours and waits to be taken over. */
function Promotions({ state }: { state: MergeState }) {
  const { promote, offline } = useMergeActions();
  return state.unpromoted.map((work) => (
    <div key={work.landing} className={css.promotion} data-tone={work.problem === null ? "idle" : "attn"}>
      <p>
        {work.isUnderWay
          ? `${work.target} is being moved to what has landed.`
          : `${count(work.landings, "landing")} ${work.landings === 1 ? "waits" : "wait"} to be taken over into ${work.target}.`}
        {work.unverified.length === 0 ? null : ` Not proved: ${work.unverified.join("; ")}.`}
        {work.problem === null ? null : <span className={css.warn}> Refused: {work.problem}</span>}
      </p>
      <Button whyNot={offline ?? (work.isUnderWay ? "It is being promoted" : undefined)} onClick={() => promote(work)}>
        Promote {work.target}...
      </Button>
    </div>
  ));
}
