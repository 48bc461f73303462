import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Conflicts, MergeDetail } from "../../api/types.ts";
import { useResource } from "../../live/resource.ts";
import { useMergeActions } from "../../merges/merge-actions.ts";
import { useCommands } from "../../state/commands.ts";
import { useUrl } from "../../state/url.ts";
import { count, shortCommit } from "../../state/words.ts";
import { Button, CopyButton } from "../../ui/controls.tsx";
import { Empty, Shown } from "../../ui/states.tsx";
import { FileSides } from "./conflict-file.tsx";
import css from "./entry-conflicts.module.css";
import { useSettlement } from "./settlement.ts";

/** The files in which an entry conflicts with landed work. Both sides are shown, and what a person makes of them between. */
export function EntryConflicts({ detail }: { detail: MergeDetail }) {
  const { entry } = detail;
  const query = useResource({
    path: "/api/merge/:of/conflicts",
    given: { of: String(entry.id) },
    refreshedBy: "queue",
  });
  return (
    <Shown what={`the conflicts of merge ${entry.id}`} query={query}>
      {(shown) =>
        shown.outlook === "conflicts" ? (
          <Sides shown={shown} detail={detail} />
        ) : (
          <Empty why={outlooks[shown.outlook]} action={<RetryWhenClean shown={shown} detail={detail} />} />
        )
      }
    </Shown>
  );
}

const outlooks: Readonly<Record<Exclude<Conflicts["outlook"], "conflicts">, string>> = {
  landed: "It has landed. There is nothing to settle.",
  contained: "The landing branch has everything of it already.",
  clean: "It merges without a conflict onto what has landed by now.",
  unrelated: "The branch has no history in common with the landing branch, so git cannot merge them.",
  unreadable: "Git cannot merge this branch.",
};

function RetryWhenClean({ shown, detail: { entry, standing } }: { shown: Conflicts; detail: MergeDetail }) {
  const { retry, offline } = useMergeActions();
  if (shown.problem !== null) return <code>{shown.problem}</code>;
  if (shown.outlook !== "clean" || !standing.can.includes("retry")) return null;
  return (
    <Button whyNot={offline} onClick={() => retry({ ...entry, id: entry.id ?? 0, can: standing.can })}>
      Try again
    </Button>
  );
}

function Sides({ shown, detail }: { shown: Conflicts; detail: MergeDetail }) {
  const { search, replace } = useUrl();
  const [showsBase, setShowsBase] = useState(false);
  const open = shown.files.filter(({ settledBy }) => settledBy === null);
  const settled = shown.files.filter(({ settledBy }) => settledBy !== null);
  const file = open.find(({ path }) => path === search.file) ?? open[0];
  const hunk = Math.max(1, Math.min(file?.hunks.length ?? 1, Number(search.hunk ?? 1) || 1));
  const at = file === undefined ? -1 : open.indexOf(file);
  const settlement = useSettlement(shown, open);
  const here = file?.hunks[hunk - 1];
  const byKey = (take: "target" | "branch" | "both") => (): void => {
    if (file !== undefined) settlement.take(file, here, take);
  };
  /** Through the places of this file, then those of the next one. */
  const step = (by: 1 | -1): void => {
    const places = open.flatMap(({ path, hunks }) =>
      hunks.length === 0 ? [{ path, hunk: 1 }] : hunks.map((_, index) => ({ path, hunk: index + 1 })),
    );
    const here = places.findIndex((place) => place.path === file?.path && place.hunk === hunk);
    const next = places[here + by];
    if (next === undefined) return;
    replace({ file: next.path, hunk: String(next.hunk) });
    document
      .getElementById(`hunk-${open.findIndex(({ path }) => path === next.path)}-${next.hunk}`)
      ?.scrollIntoView({ block: "center" });
  };
  const noFile = file === undefined ? "No rule leaves anything to settle" : undefined;
  const noLines = "This file is settled as a whole";
  useCommands("Conflicts", [
    { id: "conflict.base", label: "Show or hide the base", keys: "b", run: () => setShowsBase(!showsBase) },
    { id: "conflict.next", label: "Next place", keys: "j", run: () => step(1) },
    { id: "conflict.previous", label: "Previous place", keys: "k", run: () => step(-1) },
    { id: "conflict.target", label: "Take the target here", keys: "t", run: byKey("target"), disabled: noFile },
    { id: "conflict.branch", label: "Take the branch here", keys: "y", run: byKey("branch"), disabled: noFile },
    {
      id: "conflict.both",
      label: "Take both here",
      keys: "w",
      run: byKey("both"),
      disabled: here ? undefined : noLines,
    },
    {
      id: "conflict.edit",
      label: "Edit the result here",
      keys: "e",
      run: () => document.querySelector<HTMLElement>(`#hunk-${at}-${hunk} textarea`)?.focus(),
      disabled: here ? undefined : noLines,
    },
    {
      id: "conflict.accept",
      label: "Accept and run gates",
      keys: "Mod+Enter",
      run: settlement.accept,
      disabled: settlement.whyNot,
    },
  ]);
  return (
    <div className={css.conflicts}>
      <div className={css.bar}>
        <span>
          {count(open.length, "file")} that no rule settles, onto <code>{shortCommit(shown.onto)}</code>
        </span>
        <Button look="quiet" keys="b" aria-pressed={showsBase} onClick={() => setShowsBase(!showsBase)}>
          {showsBase ? "Hide base" : "Show base"}
        </Button>
        <Button look="quiet" keys="k" onClick={() => step(-1)}>
          Previous
        </Button>
        <Button look="quiet" keys="j" onClick={() => step(1)}>
          Next
        </Button>
        <span className={css.accept}>
          <span className={css.faint}>
            {settlement.left === 0
              ? "Nothing lands before it has passed the gates"
              : `${count(settlement.left, "place")} left`}
          </span>
          <Button look="primary" keys="Mod+Enter" whyNot={settlement.whyNot} onClick={settlement.accept}>
            Accept and run gates
          </Button>
        </span>
      </div>
      <WayOut detail={detail} byHand={shown.byHand} />
      {open.map((each, index) => (
        <FileSides
          key={each.path}
          file={each}
          name={`hunk-${index}`}
          current={index === at ? hunk : 0}
          showsBase={showsBase}
          target={shown.entry.targetBranch}
          branch={shown.entry.branch}
          settlement={settlement}
          onGo={(place) => replace({ file: each.path, hunk: String(place) })}
        />
      ))}
      {settled.length === 0 ? null : (
        <section className={css.settled}>
          <h2>{count(settled.length, "file")} that a rule settles</h2>
          <ul>
            {settled.map(({ path, settledBy }) => (
              <li key={path}>
                <code>{path}</code> {settledBy}
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}

/** The other ways: a conflict can be settled on the branch too, by its author or by a person. */
function WayOut({ detail: { entry, standing }, byHand }: { detail: MergeDetail; byHand: Conflicts["byHand"] }) {
  const merge = { ...entry, id: entry.id ?? 0, can: standing.can };
  const { reject, offline } = useMergeActions();
  const canReject = standing.can.includes("reject");
  return (
    <div className={css.way}>
      <p>
        Say for each place what stays. Or have it settled on the branch,{" "}
        {entry.agentName === null ? "by its sender" : `by ${entry.agentName}`} or by you.
      </p>
      <div className={css.buttons}>
        {canReject ? (
          <Button whyNot={offline} onClick={() => reject(merge)}>
            Send back to the author...
          </Button>
        ) : null}
        {entry.agentName === null ? null : (
          <Link to="/mail" search={{ compose: entry.agentName } as never}>
            Message {entry.agentName}
          </Link>
        )}
      </div>
      <details className={css.hand}>
        <summary>Settle it on the branch yourself, with {count(byHand.steps.length, "command")}</summary>
        {byHand.busyAgent === null ? null : (
          <p data-tone="attn" className={css.busy}>
            {byHand.busyAgent} still works on this branch. Pause it first, or both of you commit there.
          </p>
        )}
        <ol>
          {byHand.steps.map(({ does, command }) => (
            <li key={command}>
              <span className={css.faint}>{does}</span>
              <code>{command}</code>
              <CopyButton text={command} what="command" />
            </li>
          ))}
        </ol>
      </details>
    </div>
  );
}
