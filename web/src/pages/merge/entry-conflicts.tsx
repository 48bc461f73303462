import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Conflicts, MergeDetail } from "../../api/types.ts";
import { useResource } from "../../live/resource.ts";
import { useMergeActions } from "../../merges/merge-actions.ts";
import { useCommands } from "../../state/commands.ts";
import { useUrl } from "../../state/url.ts";
import { count, shortCommit } from "../../state/words.ts";
import { Button, CopyButton } from "../../ui/controls.tsx";
import { Glyph } from "../../ui/glyph.tsx";
import { Empty, Shown } from "../../ui/states.tsx";
import css from "./entry-conflicts.module.css";

type File = Conflicts["files"][number];
type Hunk = File["hunks"][number];

/** The files in which an entry conflicts with landed work. Both sides are shown. They are settled on the branch, not here. */
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
  useCommands("Conflicts", [
    { id: "conflict.base", label: "Show or hide the base", keys: "b", run: () => setShowsBase(!showsBase) },
    { id: "conflict.next", label: "Next place", keys: "j", run: () => step(1) },
    { id: "conflict.previous", label: "Previous place", keys: "k", run: () => step(-1) },
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

/**
 * What can be done, and by whom: the queue takes commits, so a conflict is settled by a commit on the branch, of its author
 * or of a person.
 */
function WayOut({ detail: { entry, standing }, byHand }: { detail: MergeDetail; byHand: Conflicts["byHand"] }) {
  const merge = { ...entry, id: entry.id ?? 0, can: standing.can };
  const { reject, offline } = useMergeActions();
  const canReject = standing.can.includes("reject");
  return (
    <div className={css.way}>
      <p>
        The queue lands commits of the branch, so the sides are settled there:{" "}
        {entry.agentName === null ? "by the sender of the branch" : `by ${entry.agentName}`}, or by you.
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
        <summary>Settle it yourself, with {count(byHand.steps.length, "command")}</summary>
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

interface FileProps {
  readonly file: File;
  readonly name: string;
  /** The chosen hunk of this file, from 1; 0 where another file is chosen. */
  readonly current: number;
  readonly showsBase: boolean;
  readonly target: string;
  readonly branch: string;
}

const FileSides = ({ file, name, current, showsBase, target, branch }: FileProps) => (
  <section className={css.file}>
    <header>
      <Glyph name="conflict" tone="bad" word="conflict" />
      <h2 className="mono">{file.path}</h2>
      <span className={css.faint}>{file.kind.replaceAll("-", " ")}</span>
      <span className={css.reason}>{file.reason}</span>
    </header>
    {file.hunks.length === 0 && file.notShown !== file.reason ? (
      <p className={css.note}>{file.notShown ?? file.message}</p>
    ) : null}
    {file.hunks.map((hunk, at) => (
      <HunkSides
        // biome-ignore lint/suspicious/noArrayIndexKey: a place has no name but its number
        key={at}
        id={`${name}-${at + 1}`}
        title={`Place ${at + 1} of ${file.hunks.length}`}
        hunk={hunk}
        isCurrent={current === at + 1}
        showsBase={showsBase}
        target={target}
        branch={branch}
      />
    ))}
  </section>
);

interface HunkProps {
  readonly id: string;
  readonly title: string;
  readonly hunk: Hunk;
  readonly isCurrent: boolean;
  readonly showsBase: boolean;
  readonly target: string;
  readonly branch: string;
}

const HunkSides = ({ id, title, hunk, isCurrent, showsBase, target, branch }: HunkProps) => (
  <div id={id} className={css.hunk} data-current={isCurrent || undefined}>
    <h3>{title}</h3>
    <div className={css.sides}>
      <Side name="Target" of={target} side={hunk.target} hunk={hunk} />
      {showsBase ? <Side name="Base" of="before both" side={hunk.base} hunk={hunk} /> : null}
      <Side name="Branch" of={branch} side={hunk.branch} hunk={hunk} />
    </div>
  </div>
);

function Side({ name, of, side, hunk }: { name: string; of: string; side: Hunk["target"]; hunk: Hunk }) {
  const lines = [
    ...hunk.before.map((text, at) => ({ number: side.line - hunk.before.length + at, text, isOwn: false })),
    ...side.lines.map((text, at) => ({ number: side.line + at, text, isOwn: true })),
    ...hunk.after.map((text, at) => ({ number: side.line + side.lines.length + at, text, isOwn: false })),
  ];
  return (
    <figure className={css.side}>
      <figcaption>
        <b>{name}</b> <span className={css.faint}>{of}</span>
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: code that scrolls must be reachable by keyboard */}
      <pre tabIndex={0}>
        {lines.map(({ number, text, isOwn }) => (
          <span key={`${number}${isOwn}`} className={css.line} data-own={isOwn || undefined}>
            <span className={css.number}>{number}</span>
            {text}
            {"\n"}
          </span>
        ))}
        {side.lines.length === 0 ? <span className={css.gone}>has no lines here</span> : null}
      </pre>
    </figure>
  );
}
