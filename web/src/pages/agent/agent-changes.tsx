import { useCallback, useEffect, useRef, useState } from "react";
import { DiffView } from "../../diff/diff-view.tsx";
import { useDiff } from "../../diff/use-diff.ts";
import { connection } from "../../live/resource.ts";
import { useCommands } from "../../state/commands.ts";
import { useUrl } from "../../state/url.ts";
import { Button } from "../../ui/controls.tsx";
import { Empty, Shown } from "../../ui/states.tsx";
import { Age } from "../../ui/text.tsx";
import css from "./agent-page.module.css";

/** After the last write of an agent, so that a swarm of them is one reading. */
const pauseMs = 3_000;

/** What an agent changed since where it started, committed or not. */
export default function AgentChanges({ name }: { name: string }) {
  const { search } = useUrl();
  const { query, files, contextOf, openFile } = useDiff("/api/agents/:name/diff", {
    name,
    ...(search.ws === "hide" ? { ignoreSpace: "true" } : {}),
  });
  const place = useRef<HTMLDivElement>(null);
  const { refetch } = query;
  const { isStale, showNewest } = useWrites(name, place, refetch);
  useCommands("Changes", [
    ...(isStale ? [{ id: "changes.newest", label: "Show the newest changes", keys: ".", run: showNewest }] : []),
  ]);
  return (
    <Shown what={`the changes of ${name}`} query={query}>
      {(diff) =>
        files.length === 0 ? (
          <Empty why={`${name} has changed nothing yet.`} command={`ov diff ${name}`} />
        ) : (
          <div className={css.changes} ref={place}>
            <DiffView
              files={files}
              scope={name}
              contextOf={contextOf}
              openFile={openFile}
              more={
                <>
                  {diff.uncommitted ? <span className="faint">some of it is not committed</span> : null}
                  {diff.worktreeGone ? (
                    <span className="faint">its worktree is gone; these are its commits</span>
                  ) : null}
                  {isStale ? (
                    <Button keys="." onClick={showNewest}>
                      It has changed since: show the newest
                    </Button>
                  ) : (
                    <span className="faint">
                      read <Age at={new Date(query.dataUpdatedAt).toISOString()} form="span" /> ago
                    </span>
                  )}
                </>
              }
            />
          </div>
        )
      }
    </Shown>
  );
}

/**
 * Reads again after an agent wrote something, while nobody is reading: a diff under a pointer, with the focus in it or
 * scrolled down stays as it is, and a button says that there is something newer.
 */
function useWrites(name: string, place: { readonly current: HTMLDivElement | null }, refetch: () => unknown) {
  const [isStale, setIsStale] = useState(false);
  const showNewest = useCallback((): void => {
    setIsStale(false);
    void refetch();
  }, [refetch]);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = connection.subscribe(`agent:${name}`, (changes) => {
      const events = changes.flatMap((change) => (change.kind === "delta" ? change.items : []));
      if (!events.some((event) => writes.test(String((event as { type?: unknown }).type)))) return;
      clearTimeout(timer);
      timer = setTimeout(() => (isRead(place.current) ? setIsStale(true) : showNewest()), pauseMs);
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [name, place, showNewest]);
  return { isStale, showNewest };
}

/** Kinds of events after which files may be others. */
const writes = /^(tool_end|turn_end)$/;

function isRead(element: HTMLElement | null): boolean {
  if (element === null) return false;
  const scrolled = element.querySelector("section")?.scrollTop ?? 0;
  return scrolled > 0 || element.matches(":hover") || element.contains(document.activeElement);
}
