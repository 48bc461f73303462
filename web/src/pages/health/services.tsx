import type { ReactNode } from "react";
import { useConnection, useResource } from "../../live/resource.ts";
import { count, span } from "../../state/words.ts";
import { type Look, LookMark } from "../../ui/look.tsx";
import { PageHead } from "../../ui/page.tsx";
import { Shown } from "../../ui/states.tsx";
import { Age } from "../../ui/text.tsx";
import css from "./health-page.module.css";

/** The engine, the merge worker, the watchdog, the web page and the connection of this one. */
export function ServiceList({ views }: { views: ReactNode }) {
  const query = useResource({ path: "/api/services", refreshedBy: "overview" });
  const connection = useConnection();
  return (
    <>
      <PageHead title="Health">{views}</PageHead>
      <Shown what="the services" query={query}>
        {({ engine, merge, watchdog, web }) => (
          <ul className={css.services}>
            <Service
              name="Engine"
              look={engine.running ? (engine.answers === false ? "silent" : "runs") : "off"}
              words={
                engine.running
                  ? `pid ${engine.pid}, version ${engine.version}`
                  : "it starts when there is something to do"
              }
            >
              {engine.uptimeMs === null ? null : `up ${span(engine.uptimeMs)}`}
              {`${count(engine.runningTurns, "turn")} running, ${engine.queuedTurns} queued`}
              {`${count(engine.runningChecks, "check")} running, ${engine.waitingChecks} waiting`}
              {engine.fullDisk}
              {engine.log === null ? null : <code>{engine.log}</code>}
            </Service>
            <Service
              name="Merge worker"
              look={merge.since === null ? "idle" : "runs"}
              words={merge.since === null ? "idle" : "an attempt goes on"}
            >
              {`mode ${merge.mode}`}
              {`${count(merge.open, "branch", "branches")} in the queue`}
              {merge.since === null ? null : (
                <>
                  for <Age at={merge.since} form="span" />
                </>
              )}
            </Service>
            <Service
              name="Watchdog"
              look={watchdog.stalled > 0 ? "attention" : engine.running ? "runs" : "off"}
              words={
                engine.running
                  ? `armed, watches ${count(watchdog.watched, "agent")}`
                  : "it watches while the engine runs"
              }
            >
              {watchdog.stalled === 0 ? null : `${count(watchdog.stalled, "agent")} stalled`}
              {`stalled after ${span(watchdog.staleThresholdMs)} of silence`}
              {`given up after ${span(watchdog.zombieThresholdMs)}`}
            </Service>
            <Service
              name="Web page"
              look={web?.port == null ? "off" : "runs"}
              words={web === null ? "not served" : (web.problem ?? `${web.host}:${web.port}`)}
            >
              {web === null ? null : `${count(web.sessions, "session")}, ${count(web.tokens, "token")}`}
            </Service>
            <Service
              name="This connection"
              look={connection.kind === "live" ? "runs" : "attention"}
              words={connection.kind === "live" ? "live" : connection.kind.replaceAll("-", " ")}
            >
              {null}
            </Service>
          </ul>
        )}
      </Shown>
    </>
  );
}

const looks = {
  runs: { glyph: "working", tone: "live", word: "Runs" },
  idle: { glyph: "between_turns", tone: "idle", word: "Idle" },
  off: { glyph: "booting", tone: "idle", word: "Off" },
  silent: { glyph: "zombie", tone: "bad", word: "Does not answer" },
  attention: { glyph: "stalled", tone: "attn", word: "Needs a look" },
} as const satisfies Record<string, Look>;

function Service({
  name,
  look,
  words,
  children,
}: {
  name: string;
  look: keyof typeof looks;
  words: string;
  children: ReactNode;
}) {
  const facts = (Array.isArray(children) ? children : [children]).filter((each) => each !== null && each !== undefined);
  return (
    <li>
      <strong>{name}</strong>
      <LookMark look={looks[look]} />
      <span>
        {words}
        {facts.map((fact, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: facts have no name but their place
          <span key={at} className="faint">
            {" · "}
            {fact}
          </span>
        ))}
      </span>
    </li>
  );
}
