import { useRef } from "react";
import type { MergeDetail } from "../../api/types.ts";
import { useResource } from "../../live/resource.ts";
import { LogView } from "../../log/log-view.tsx";
import { type GateState, gateLook } from "../../merges/merge-look.ts";
import { useUrl } from "../../state/url.ts";
import { clockTime, shortCommit, stopwatch } from "../../state/words.ts";
import { Glyph } from "../../ui/glyph.tsx";
import { Empty, Shown } from "../../ui/states.tsx";
import css from "./entry-page.module.css";

interface Run {
  /** Names it while it runs and afterwards: `train-1/1-train/2-test`. */
  readonly key: string;
  /** By which its output is read. */
  readonly log: string;
  readonly gate: string;
  readonly status: GateState;
  readonly flaky: boolean;
  readonly at: string | null;
  readonly durationMs: number | null;
  readonly tree: string | null;
  /** What the gate looked at, where it was not this entry. */
  readonly on: string | null;
}

const subjects: Readonly<Record<string, string>> = {
  base: "without it",
  others: "others of its train",
};

/** The gates that looked at it, and the output of one of them. */
export function EntryGates({ detail }: { detail: MergeDetail }) {
  const { search, replace } = useUrl();
  const runs = useRuns(detail);
  const chosen =
    runs.find(({ key, log }) => key === search.gate || log === search.gate) ??
    runs.find(({ status }) => status === "running") ??
    runs.find(({ status, on }) => on === null && (status === "failed" || status === "timed_out")) ??
    runs[0];
  if (chosen === undefined) {
    const { entry } = detail;
    return (
      <Empty
        why={
          entry.status === "pending"
            ? "No gate has run yet. Gates run on the candidate when its train is put together."
            : "No gate ran on this exact tree."
        }
        command={`ov gate show ${entry.id}`}
      />
    );
  }
  return (
    <div className={css.gates}>
      <ul className={css.runs} aria-label="Runs of gates">
        {runs.map((run) => (
          <li key={run.key}>
            <button
              type="button"
              aria-current={run === chosen}
              onClick={() => replace({ gate: run.key, ln: undefined })}
            >
              <RunLine run={run} />
            </button>
          </li>
        ))}
      </ul>
      <GateOutput key={chosen.key} run={chosen} name={`${chosen.gate} of merge ${detail.entry.id}`} />
    </div>
  );
}

/** Runs of the train that is being checked now, then what is on record, newest first. */
function useRuns({ entry, gates }: MergeDetail): readonly Run[] {
  const { data: state } = useResource({ path: "/api/merge/state", topic: "merge-state" });
  const train = state?.trains.find(({ members }) => members.some(({ id }) => id === entry.id));
  const now = (train?.checks ?? []).flatMap((check) =>
    check.gates.flatMap(({ gate, status, log, startedAt, durationMs }): Run[] =>
      log === null
        ? []
        : [{ key: log, log, gate, status, durationMs, at: startedAt, flaky: false, tree: null, on: null }],
    ),
  );
  const recorded = gates.map(
    ({ id, gate, status, flaky, createdAt, durationMs, tree, on, logPath }): Run => ({
      key: logPath
        .replace(/\.log$/, "")
        .split("/")
        .slice(-3)
        .join("/"),
      log: id,
      gate,
      status,
      flaky,
      at: createdAt,
      durationMs,
      tree,
      on: on === null ? null : (subjects[on] ?? null),
    }),
  );
  // A train that has ended is gone a moment before its results are on record; its runs stay until then.
  const last = useRef<readonly Run[]>([]);
  if (now.length > 0) last.current = now;
  const known = new Set(recorded.map(({ key }) => key));
  return [...last.current.filter(({ key }) => !known.has(key)).toReversed(), ...recorded.toReversed()];
}

function RunLine({ run: { gate, status, flaky, at, durationMs, tree, on } }: { run: Run }) {
  const look = gateLook(status, flaky);
  return (
    <>
      <Glyph name={look.glyph} tone={look.tone} />
      <b>{gate}</b>
      <span data-tone={look.tone} className={css.outcome}>
        {look.word}
      </span>
      <span className="faint">
        {[
          durationMs === null ? "" : stopwatch(durationMs),
          at === null ? "" : clockTime(at),
          tree === null ? "" : `tree ${shortCommit(tree)}`,
          on ?? "",
        ]
          .filter((part) => part !== "")
          .join(" · ")}
      </span>
    </>
  );
}

function GateOutput({ run, name }: { run: Run; name: string }) {
  const { search, replace } = useUrl();
  const isRunning = run.status === "running";
  const query = useResource({
    path: "/api/gates/:id/log",
    given: { id: run.log },
    topic: isRunning ? `gate:${run.log}` : undefined,
  });
  return (
    <div className={css.output}>
      <Shown what={`the output of ${name}`} query={query}>
        {({ items, isGone }) =>
          isGone ? (
            <Empty
              why="The output is no longer kept. Its digest is in the receipt."
              command={`ov gate log ${run.log}`}
            />
          ) : (
            <LogView
              label={name}
              parts={items}
              isRunning={isRunning}
              marked={search.ln}
              onMark={(ln) => replace({ ln, gate: run.key })}
            />
          )
        }
      </Shown>
    </div>
  );
}
