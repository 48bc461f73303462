import { useState } from "react";
import { read } from "../../api/client.ts";
import type { Agent, Generation, Replies } from "../../api/types.ts";
import { useResource } from "../../live/resource.ts";
import { toast } from "../../state/toasts.ts";
import { useUrl } from "../../state/url.ts";
import { clockTime, span } from "../../state/words.ts";
import { Button } from "../../ui/controls.tsx";
import { Empty, Shown } from "../../ui/states.tsx";
import css from "./agent-page.module.css";

type Part = Replies["/api/turns/:turn/output"];
type Turn = Generation["turns"][number];

/** What the program of an agent wrote in one turn, as it wrote it. */
export function Transcript({ agent, generation }: { agent: Agent; generation: Generation | undefined }) {
  const { search, replace } = useUrl();
  const turns = generation?.turns.toReversed() ?? [];
  const turn = turns.find(({ id }) => id === search.turn) ?? turns[0];
  if (turn === undefined) return <Empty why={`${agent.name} has had no turn yet.`} command={`ov logs ${agent.name}`} />;
  return (
    <>
      <div className={css.bar}>
        <label>
          Turn{" "}
          <select value={turn.id} onChange={(event) => replace({ turn: event.target.value })}>
            {turns.map((each, at) => (
              <option key={each.id} value={each.id}>
                {turns.length - at}: {turnWords(each)}
              </option>
            ))}
          </select>
        </label>
        <span>raw output; what cannot be seen is written out</span>
      </div>
      <Output key={turn.id} agent={agent} turn={turn} />
    </>
  );
}

const turnWords = ({ startedAt, trigger, status, failure, durationMs }: Turn): string =>
  [
    startedAt === null ? "queued" : clockTime(startedAt),
    trigger,
    failure ?? status,
    ...(durationMs === null ? [] : [span(durationMs)]),
  ].join(", ");

/** The newest part, and the parts before it that were asked for. Once there are such, the end stays where it was. */
function Output({ agent: { name }, turn }: { agent: Agent; turn: Turn }) {
  const path = "/api/turns/:turn/output" as const;
  const [fixed, setFixed] = useState<readonly Part[]>([]);
  const isLive = turn.endedAt === null && fixed.length === 0;
  const query = useResource({
    path,
    given: { turn: turn.id },
    refreshedBy: isLive ? `agent:${name}` : undefined,
    isFresh: true,
  });
  const parts = fixed.length > 0 ? fixed : query.data === undefined ? [] : [query.data];
  const older = parts[0]?.older ?? null;
  const readOlder = async (): Promise<void> => {
    if (older === null) return;
    try {
      setFixed([await read(path, { turn: turn.id, before: older }), ...parts]);
    } catch (error) {
      toast(`Could not read older output of ${name}: ${String(error)}.`, { failed: true });
    }
  };
  return (
    <Shown what={`the output of ${name}`} query={query}>
      {() =>
        parts.every(({ lines }) => lines.length === 0) ? (
          <Empty why="Nothing was written in this turn, or its output was removed by now." />
        ) : (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
          <section className={css.output} tabIndex={0} aria-label="Output">
            {older === null ? null : <Button onClick={() => void readOlder()}>Read older output</Button>}
            {parts.map(({ from, lines }) => (
              <pre key={from}>{lines.join("\n")}</pre>
            ))}
            {fixed.length > 0 && turn.endedAt === null ? (
              <Button onClick={() => setFixed([])}>Show the newest output</Button>
            ) : null}
          </section>
        )
      }
    </Shown>
  );
}
